import { describe, expect, test } from 'vitest'
import { balance } from './balance.ts'
import { SHARDS, shardOf } from './shard-of.ts'

const shards = (from: number, to: number) => new Set(Array.from({ length: to - from }, (_, index) => from + index))
const NONE: ReadonlySet<number> = new Set()

describe('a process takes and leaves shards so that each has its part', () => {
  test('alone it takes all', () => {
    expect(balance({ processes: 1, own: NONE, others: NONE })).toEqual({
      take: [...shards(0, SHARDS)],
      leave: [],
    })
    expect(balance({ processes: 1, own: shards(0, SHARDS), others: NONE })).toEqual({
      take: [],
      leave: [],
    })
  })

  test('when another comes it leaves half, and the other takes what is free only', () => {
    const first = balance({ processes: 2, own: shards(0, SHARDS), others: NONE })
    expect([first.take, first.leave.length]).toEqual([[], SHARDS / 2])
    const second = { processes: 2, own: NONE }
    expect(balance({ ...second, others: shards(0, SHARDS) })).toEqual({ take: [], leave: [] })
    expect(balance({ ...second, others: shards(0, 100) }).take).toEqual([...shards(100, SHARDS)])
  })

  test('it takes no more than its part, so that one of many gets some', () => {
    const { take, leave } = balance({ processes: 3, own: shards(0, 40), others: NONE })
    expect([take.length, leave]).toEqual([3, []])
  })
})

test.each([1, 2, 3, 5, 7, 128, 200])(
  '%i processes come to rest with at most 128 by their number each, and all shards owned',
  (processes) => {
    const owned = Array.from({ length: processes }, () => new Set<number>())
    const ownerOf = (shard: number) => owned.findIndex((own) => own.has(shard))
    const beat = (own: Set<number>) => {
      const others = new Set(owned.filter((each) => each !== own).flatMap((each) => [...each]))
      const { take, leave } = balance({ processes, own, others })
      for (const shard of leave) own.delete(shard)
      if (leave.length === 0) for (const shard of take) own.add(shard)
      return take.length + leave.length
    }
    // The first one had all of them.
    for (const shard of shards(0, SHARDS)) owned[0]?.add(shard)
    for (let round = 0; round < 3; round++) for (const own of owned) beat(own)
    expect(owned.map(beat)).toEqual(owned.map(() => 0))
    for (const shard of shards(0, SHARDS)) expect(ownerOf(shard)).toBeGreaterThanOrEqual(0)
    expect(Math.max(...owned.map(({ size }) => size))).toBe(Math.ceil(SHARDS / processes))
  },
)

test('ids of any version are spread over all shards', () => {
  const counts = new Map<number, number>()
  for (let index = 0; index < 12_800; index++) {
    const shard = shardOf(crypto.randomUUID())
    counts.set(shard, (counts.get(shard) ?? 0) + 1)
  }
  expect([...counts.keys()].toSorted((a, b) => a - b)).toEqual([...shards(0, SHARDS)])
  expect(Math.max(...counts.values())).toBeLessThan(200)
})

test('an id has one shard, however it is written', () => {
  for (const id of ['0198c1a2-0000-7000-8000-0000000000ff', '0198C1A2-0000-7000-8000-0000000000FF'])
    expect(shardOf(id)).toBe(127)
  expect(shardOf('0198c1a2-0000-7000-8000-000000000080')).toBe(0)
})
