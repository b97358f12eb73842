import { randomUUID } from 'node:crypto'
import type { ErrorBody } from '@backoffice/contracts/errors.ts'
import type { AnySql } from '@backoffice/postgres/database.ts'
import { testDatabase } from '@backoffice/testing/database.ts'
import { eventually } from '@backoffice/testing/eventually.ts'
import { afterAll, describe, expect, it, vi } from 'vitest'
import { stockClient } from './testing/stock-client.ts'

const { admin, db } = await testDatabase('catalog')
const client = stockClient({ admin, db })
const { take, release, remove, variant, stockOf, movements } = client

const RUNS = 6
vi.setConfig({ testTimeout: 240_000 })
const times = <Result>(count: number, make: (index: number) => Result) =>
  Array.from({ length: count }, (_, i) => make(i))
const count = (statuses: number[], status: number) => statuses.filter((one) => one === status).length
const sum = (numbers: number[]) => numbers.reduce((total, number) => total + number, 0)

afterAll(async () => {
  expect(await client.ledgerDifferences()).toEqual([])
})

/** Changes a variant, and commits once a take of 3 waits for the change. Returns the answer of the take. */
async function takeDuring(change: (tx: AnySql, variant: string) => Promise<unknown>, stock: number) {
  const mug = await variant(stock)
  const answer = await admin.begin(async (tx) => {
    await tx`select set_config('app.workspace_id', ${client.caller.workspaceId}, true)`
    await change(tx, mug.id)
    const taking = take<Partial<ErrorBody>>([{ variant: mug.id, quantity: 3 }])
    await eventually('the take waits', async () => {
      const [{ n } = { n: 0 }] = await tx<{ n: number }[]>`
        select count(*)::int as n from pg_locks where not granted
          and transactionid = (select transactionid from pg_locks where pid = pg_backend_pid() and transactionid is not null)`
      return n > 0
    })
    return { taking }
  })
  const { status, body } = await answer.taking
  return { mug, status, message: body.error?.message.replaceAll(mug.id, 'ID').replaceAll(mug.sku, 'SKU') }
}

describe('a take that had to wait goes by what the variant then is', () => {
  it('and succeeds when there has come enough', async () => {
    const { mug, status } = await takeDuring((tx, id) => tx`update variant set stock = 5 where id = ${id}`, 0)
    expect([status, await stockOf(mug.id)]).toEqual([200, 2])
    expect((await movements(mug.id)).map(({ delta }) => delta)).toEqual([5, -3])
  })

  it('and is told the new number when there is no longer enough', async () => {
    const { mug, status, message } = await takeDuring((tx, id) => tx`update variant set stock = 2 where id = ${id}`, 5)
    expect([status, message]).toEqual([409, 'lines[0].quantity: only 2 of "SKU" left; order 2 at most'])
    expect(await stockOf(mug.id)).toBe(2)
  })

  it('and is told so when it is no longer there', async () => {
    const { status, message } = await takeDuring((tx, id) => tx`delete from variant where id = ${id}`, 5)
    expect([status, message]).toEqual([
      422,
      'lines[0].variant: this workspace has no variant with the id "ID"; correct it, or leave the item out',
    ])
  })
})

/** Many orders take one at the same time: as many as `stock` succeed, the others get a conflict. */
async function expectNotOversold(takes: number, stock: number) {
  const mug = await variant(stock)
  const answers = await Promise.all(times(takes, () => take([{ variant: mug.id, quantity: 1 }])))
  const statuses = answers.map(({ status }) => status)
  expect([count(statuses, 200), count(statuses, 409)]).toEqual([stock, takes - stock])
  expect([await stockOf(mug.id), sum((await movements(mug.id)).map(({ delta }) => delta))]).toEqual([0, -stock])
}

it(`200 takes at once of a variant with 150 end with 150 taken, 50 conflicts and none left, in ${RUNS} runs`, async () => {
  for (let run = 0; run < RUNS; run++) await expectNotOversold(200, 150)
})

it('200 orders at once over the same variants, in opposite order of lines, all end right and none by deadlock', async () => {
  const variants = await Promise.all(times(20, () => variant(1000)))
  const lines = variants.map(({ id }) => ({ variant: id, quantity: 1 }))
  const answers = await Promise.all(times(200, (index) => take(index % 2 ? lines : lines.toReversed())))
  expect(answers.map(({ status }) => status)).toEqual(times(200, () => 200))
  for (const { id } of variants) expect(await stockOf(id)).toBe(800)
  const [deadlocks] = await admin`select deadlocks::int as n from pg_stat_database where datname = current_database()`
  expect(deadlocks?.n).toBe(0)
})

it('one reservation sent 20 times at once takes once, and all get one answer', async () => {
  for (let run = 0; run < 20; run++) {
    const [mug, cup] = [await variant(5), await variant(5)]
    const reservation = randomUUID()
    const lines = [mug, cup].map(({ id }) => ({ variant: id, quantity: 5 }))
    const answers = await Promise.all(times(20, (index) => take(index % 2 ? lines : lines.toReversed(), reservation)))
    expect(new Set(answers.map(({ status, body }) => JSON.stringify([status, body]))).size).toBe(1)
    expect([answers[0]?.status, await stockOf(mug.id), await stockOf(cup.id)]).toEqual([200, 0, 0])
  }
})

it('one reservation sent at once with different lines takes the lines of one of them', async () => {
  for (let run = 0; run < 20; run++) {
    const mug = await variant(100)
    const reservation = randomUUID()
    const answers = await Promise.all(
      times(10, (index) => take([{ variant: mug.id, quantity: index + 1 }], reservation)),
    )
    const taken = answers.filter(({ status }) => status === 200)
    expect([
      taken.length,
      count(
        answers.map(({ status }) => status),
        409,
      ),
    ]).toEqual([1, 9])
    expect(await stockOf(mug.id)).toBe(100 - (taken[0]?.body.lines[0]?.quantity ?? 0))
  }
})

it('a reservation taken and released at once ends released with all of its stock back, and later takes are refused', async () => {
  for (let run = 0; run < RUNS; run++) {
    const [mug, cup] = [await variant(5), await variant(5)]
    const reservation = randomUUID()
    const lines = [mug, cup].map(({ id }) => ({ variant: id, quantity: 2 }))
    const answers = await Promise.all(
      times(8, (index) => (index % 2 === run % 2 ? take(lines, reservation) : release(reservation))),
    )
    expect(answers.filter(({ status }) => status !== 200 && status !== 409)).toEqual([])
    expect((await take(lines, reservation)).status).toBe(409)
    expect([await stockOf(mug.id), await stockOf(cup.id)]).toEqual([5, 5])
    const deltas = (await movements(mug.id)).map(({ delta }) => delta)
    expect([[], [-2, 2]]).toContainEqual(deltas)
  }
})

it('stock set by hand while orders take is neither oversold nor lost', async () => {
  const mug = await variant(50)
  const set = () => admin`update variant set stock = stock + 10 where id = ${mug.id}`
  const answers = await Promise.all(
    times(200, (index) => (index % 20 ? take([{ variant: mug.id, quantity: 1 }]) : set())),
  )
  const taken = answers.filter((answer) => 'status' in answer && answer.status === 200).length
  expect(await stockOf(mug.id)).toBe(150 - taken)
  expect(taken).toBeGreaterThanOrEqual(50)
})

it('a product deleted while orders take it leaves no stock and a ledger that adds up to 0', async () => {
  for (let run = 0; run < 10; run++) {
    const [mug, cup] = [await variant(100), await variant(100)]
    const lines = [mug, cup].map(({ id }) => ({ variant: id, quantity: 1 }))
    const answers = await Promise.all(times(20, (index) => (index === 8 ? remove(mug.product) : take(lines))))
    const statuses = answers.flatMap((answer) => ('status' in answer ? [answer.status] : []))
    expect(count(statuses, 200) + count(statuses, 422)).toBe(19)
    expect([await stockOf(mug.id), await stockOf(cup.id)]).toEqual([undefined, 100 - count(statuses, 200)])
  }
})
