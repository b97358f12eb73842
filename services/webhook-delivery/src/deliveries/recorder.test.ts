import { expect, test } from 'vitest'
import type { Attempt } from './attempt.ts'
import { Recorder, type WriteAttempts } from './recorder.ts'

const attempt = (deliveryId: string) => ({ job: { deliveryId } }) as Attempt
const idsOf = (attempts: readonly Attempt[]) => attempts.map(({ job }) => job.deliveryId)

function recorderOver(write: WriteAttempts = async (attempts) => new Set(idsOf(attempts))) {
  const written: string[][] = []
  const recorder = new Recorder(write, (attempts) => written.push(idsOf(attempts)))
  return { recorder, written }
}

test('attempts that end together are written together', async () => {
  const { recorder, written } = recorderOver()
  for (const id of ['a', 'b', 'c']) recorder.add(attempt(id))
  await recorder.settled()
  expect(written).toEqual([['a', 'b', 'c']])
})

test('what ends during a write goes with the next', async () => {
  const { recorder, written } = recorderOver(async (attempts) => {
    if (attempts[0]?.job.deliveryId === 'a') recorder.add(attempt('b'))
    return new Set()
  })
  recorder.add(attempt('a'))
  await recorder.settled()
  expect(written).toEqual([['a'], ['b']])
})

test('what ends just as the last write is over is written as well', async () => {
  const written: string[] = []
  const recorder = new Recorder(
    async () => new Set(),
    (attempts) => {
      written.push(...idsOf(attempts))
      if (written.length === 1) queueMicrotask(() => recorder.add(attempt('b')))
    },
  )
  recorder.add(attempt('a'))
  await recorder.settled()
  await recorder.settled()
  expect(written).toEqual(['a', 'b'])
})

test('a write that fails is repeated until it succeeds', async () => {
  let failures = 1
  const { recorder, written } = recorderOver(async () => {
    if (failures-- > 0) throw new Error('PostgreSQL is away')
    return new Set()
  })
  recorder.add(attempt('a'))
  await recorder.settled()
  expect(written).toEqual([['a']])
})
