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

it('gives back exactly what the reservation has taken, and answers with it', async () => {
  const [mug, cup] = [await variant(5), await variant(5, { can_preorder: true })]
  const reservation = randomUUID()
  const lines = [
    { variant: mug.id, quantity: 2 },
    { variant: cup.id, quantity: 9 },
  ]
  const taken = await take(lines, reservation)
  await take([{ variant: mug.id, quantity: 1 }])
  const { status, body } = await release(reservation.toUpperCase())
  expect([status, body]).toEqual([200, { order: reservation, state: 'RELEASED', lines: taken.body.lines }])
  expect([await stockOf(mug.id), await stockOf(cup.id)]).toEqual([4, 5])
})

it('leaves a movement that tells the reason, the reservation and who, and asks for product.updated (OP-71)', async () => {
  const mug = await variant(5)
  const reservation = randomUUID()
  await take([{ variant: mug.id, quantity: 2 }], reservation)
  await admin`truncate product_refresh`
  await release(reservation)
  expect((await movements(mug.id))[1]).toEqual({
    delta: 2,
    reason: 'released',
    order_id: reservation,
    actor: client.caller.keyId,
  })
  const waiting = await admin`select product_id, is_change from product_refresh`
  expect([...waiting]).toEqual([{ product_id: mug.product, is_change: true }])
})

it('gives back once: the same release again gets the same answer (OP-96)', async () => {
  const mug = await variant(5)
  const reservation = randomUUID()
  await take([{ variant: mug.id, quantity: 2 }], reservation)
  const answers = await Promise.all(Array.from({ length: 10 }, () => release(reservation)))
  answers.push(await release(reservation))
  expect(new Set(answers.map(({ status, body }) => JSON.stringify([status, body]))).size).toBe(1)
  expect([await stockOf(mug.id), (await movements(mug.id)).length]).toEqual([5, 2])
})

it('releases a reservation that has taken nothing, so that its take is refused when it comes late (OP-96)', async () => {
  const mug = await variant(5)
  const reservation = randomUUID()
  const { status, body } = await release(reservation)
  expect([status, body]).toEqual([200, { order: reservation, state: 'RELEASED', lines: [] }])
  const late = await take<ErrorBody>([{ variant: mug.id, quantity: 2 }], reservation)
  expect([late.status, late.body.error.message]).toEqual([
    409,
    `order: reservation ${reservation} was released; take stock under another id`,
  ])
  expect(await stockOf(mug.id)).toBe(5)
})

it('passes over variants that were deleted meanwhile', async () => {
  const [mug, cup] = [await variant(5), await variant(5)]
  const reservation = randomUUID()
  const lines = [mug, cup].map(({ id }) => ({ variant: id, quantity: 2 }))
  const taken = await take(lines, reservation)
  await remove(cup.product)
  const { status, body } = await release(reservation)
  expect([status, body.lines]).toEqual([200, taken.body.lines])
  expect([await stockOf(mug.id), await stockOf(cup.id)]).toEqual([5, undefined])
})

it('gives back what is left when all variants were deleted: nothing', async () => {
  const mug = await variant(5)
  const reservation = randomUUID()
  await take([{ variant: mug.id, quantity: 2 }], reservation)
  await remove(mug.product)
  expect((await release(reservation)).status).toBe(200)
})

it('gives back no more than makes a stock of 2^53−1, and all of the other variants (OP-96)', async () => {
  const [mug, cup] = [await variant(5), await variant(5)]
  const reservation = randomUUID()
  await take(
    [mug, cup].map(({ id }) => ({ variant: id, quantity: 2 })),
    reservation,
  )
  await admin`update variant set stock = ${String(Number.MAX_SAFE_INTEGER - 1)} where id = ${mug.id}`
  expect((await release(reservation)).status).toBe(200)
  expect([await stockOf(mug.id), await stockOf(cup.id)]).toEqual([Number.MAX_SAFE_INTEGER, 5])
  expect((await movements(mug.id)).at(-1)).toMatchObject({ delta: 1, reason: 'released' })
})

it('leaves the reservation of that id in another workspace alone', async () => {
  const mug = await variant(5)
  const reservation = randomUUID()
  await take([{ variant: mug.id, quantity: 2 }], reservation)
  await stockClient(database, aCaller()).release(reservation)
  expect(await stockOf(mug.id)).toBe(3)
  expect((await take([{ variant: mug.id, quantity: 2 }], reservation)).status).toBe(200)
})

it('needs five statements, whatever the number of lines', async () => {
  const variants = await Promise.all(Array.from({ length: 30 }, () => variant(5)))
  const reservation = randomUUID()
  await take(
    variants.map(({ id }) => ({ variant: id, quantity: 1 })),
    reservation,
  )
  takeStatements()
  expect((await release(reservation)).status).toBe(200)
  expect(takeStatements()).toHaveLength(5)
})

it.each(['', '7', 7, null])('refuses the id %j with bad_request', async (reservation) => {
  const { status, body } = await release<ErrorBody>(reservation as never)
  expect([status, body.error.code]).toEqual([400, 'bad_request'])
  expect(body.error.message).toMatch(/^order: /)
})
