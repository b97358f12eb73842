import { randomUUID } from 'node:crypto'
import type { ErrorBody } from '@backoffice/contracts/errors.ts'
import { aCaller } from '@backoffice/testing/caller.ts'
import { testDatabase } from '@backoffice/testing/database.ts'
import { afterAll, expect, it } from 'vitest'
import { stockClient } from './testing/stock-client.ts'

const database = await testDatabase('catalog')
const { admin, takeStatements } = database
const client = stockClient(database)
const { take, release, remove, variant, stockOf, movements } = client

afterAll(async () => {
  expect(await client.ledgerDifferences()).toEqual([])
})

it('gives back exactly what the order has taken, and answers with it', async () => {
  const [mug, cup] = [await variant(5), await variant(5, { can_preorder: true })]
  const order = randomUUID()
  const lines = [
    { variant: mug.id, quantity: 2 },
    { variant: cup.id, quantity: 9 },
  ]
  const taken = await take(lines, order)
  await take([{ variant: mug.id, quantity: 1 }])
  const { status, body } = await release(order.toUpperCase())
  expect([status, body]).toEqual([200, { order, state: 'RELEASED', lines: taken.body.lines }])
  expect([await stockOf(mug.id), await stockOf(cup.id)]).toEqual([4, 5])
})

it('leaves a movement that tells the reason, the order and who, and asks for product.updated (OP-71)', async () => {
  const mug = await variant(5)
  const order = randomUUID()
  await take([{ variant: mug.id, quantity: 2 }], order)
  await admin`truncate product_refresh`
  await release(order)
  expect((await movements(mug.id))[1]).toEqual({
    delta: 2,
    reason: 'released',
    order_id: order,
    actor: client.caller.keyId,
  })
  const waiting = await admin`select product_id, is_change from product_refresh`
  expect([...waiting]).toEqual([{ product_id: mug.product, is_change: true }])
})

it('gives back once: the same release again gets the same answer (OP-96)', async () => {
  const mug = await variant(5)
  const order = randomUUID()
  await take([{ variant: mug.id, quantity: 2 }], order)
  const answers = await Promise.all(Array.from({ length: 10 }, () => release(order)))
  answers.push(await release(order))
  expect(new Set(answers.map(({ status, body }) => JSON.stringify([status, body]))).size).toBe(1)
  expect([await stockOf(mug.id), (await movements(mug.id)).length]).toEqual([5, 2])
})

it('releases an order that has taken nothing, so that its take is refused when it comes late (OP-96)', async () => {
  const mug = await variant(5)
  const order = randomUUID()
  const { status, body } = await release(order)
  expect([status, body]).toEqual([200, { order, state: 'RELEASED', lines: [] }])
  const late = await take<ErrorBody>([{ variant: mug.id, quantity: 2 }], order)
  expect([late.status, late.body.error.message]).toEqual([
    409,
    `order: ${order} was released; take stock for another order`,
  ])
  expect(await stockOf(mug.id)).toBe(5)
})

it('passes over variants that were deleted meanwhile', async () => {
  const [mug, cup] = [await variant(5), await variant(5)]
  const order = randomUUID()
  const lines = [mug, cup].map(({ id }) => ({ variant: id, quantity: 2 }))
  const taken = await take(lines, order)
  await remove(cup.product)
  const { status, body } = await release(order)
  expect([status, body.lines]).toEqual([200, taken.body.lines])
  expect([await stockOf(mug.id), await stockOf(cup.id)]).toEqual([5, undefined])
})

it('gives back what is left when all variants were deleted: nothing', async () => {
  const mug = await variant(5)
  const order = randomUUID()
  await take([{ variant: mug.id, quantity: 2 }], order)
  await remove(mug.product)
  expect((await release(order)).status).toBe(200)
})

it('refuses to make a stock of more than 2^53−1, and gives back nothing (OP-07)', async () => {
  const [mug, cup] = [await variant(5), await variant(5)]
  const order = randomUUID()
  await take(
    [mug, cup].map(({ id }) => ({ variant: id, quantity: 2 })),
    order,
  )
  await admin`update variant set stock = ${String(Number.MAX_SAFE_INTEGER)} where id = ${mug.id}`
  const { status, body } = await release<ErrorBody>(order)
  expect([status, body.error.message]).toEqual([
    409,
    `order: what moves of ${mug.sku} would make a stock beyond ±9007199254740991`,
  ])
  expect(await stockOf(cup.id)).toBe(3)
  await admin`update variant set stock = 0 where id = ${mug.id}`
  expect((await release(order)).status).toBe(200)
  expect([await stockOf(mug.id), await stockOf(cup.id)]).toEqual([2, 5])
})

it('leaves the order of that id in another workspace alone', async () => {
  const mug = await variant(5)
  const order = randomUUID()
  await take([{ variant: mug.id, quantity: 2 }], order)
  await stockClient(database, aCaller()).release(order)
  expect(await stockOf(mug.id)).toBe(3)
  expect((await take([{ variant: mug.id, quantity: 2 }], order)).status).toBe(200)
})

it('needs five statements, whatever the number of lines', async () => {
  const variants = await Promise.all(Array.from({ length: 30 }, () => variant(5)))
  const order = randomUUID()
  await take(
    variants.map(({ id }) => ({ variant: id, quantity: 1 })),
    order,
  )
  takeStatements()
  expect((await release(order)).status).toBe(200)
  expect(takeStatements()).toHaveLength(5)
})

it.each(['', '7', 7, null])('refuses the order %j with bad_request', async (order) => {
  const { status, body } = await release<ErrorBody>(order as never)
  expect([status, body.error.code]).toEqual([400, 'bad_request'])
  expect(body.error.message).toMatch(/^order: /)
})
