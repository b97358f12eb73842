import { randomUUID } from 'node:crypto'
import type { ErrorBody } from '@backoffice/contracts/errors.ts'
import { aCaller } from '@backoffice/testing/caller.ts'
import { testDatabase } from '@backoffice/testing/database.ts'
import { afterAll, describe, expect, it } from 'vitest'
import { refreshChunk } from '../products/refresh-products.ts'
import { stockClient } from './testing/stock-client.ts'

const database = await testDatabase('catalog')
const { admin, db, takeStatements } = database
const client = stockClient(database)
const { take, release, remove, variant, stockOf, movements } = client

const refusal = ({ status, body }: { status: number; body: ErrorBody }) => [status, body.error.code, body.error.message]
const byId = (a: { variant: string }, b: { variant: string }) => (a.variant < b.variant ? -1 : 1)
const reservations = async () => (await admin`select from stock_reservation`).length
const waiting = async (product: string) => [
  ...(await admin`select is_change, livemode, workspace_id from product_refresh where product_id = ${product}`),
]

afterAll(async () => {
  expect(await client.ledgerDifferences()).toEqual([])
})

describe('taking stock', () => {
  it('takes what a reservation wants and answers with product and SKU, a variant once, in id order', async () => {
    const [mug, cup] = [await variant(10), await variant(5)]
    const reservation = randomUUID()
    const { status, body } = await take(
      [
        { variant: cup.id, quantity: 2 },
        { variant: mug.id, quantity: 1 },
        { variant: cup.id.toUpperCase(), quantity: 3 },
      ],
      reservation,
    )
    expect(status).toBe(200)
    expect(body).toEqual({
      order: reservation,
      lines: [
        { variant: mug.id, product: mug.product, sku: mug.sku, quantity: 1 },
        { variant: cup.id, product: cup.product, sku: cup.sku, quantity: 5 },
      ].sort(byId),
    })
    expect([await stockOf(mug.id), await stockOf(cup.id)]).toEqual([9, 0])
  })

  it('answers the variants where a currency is given, and takes nothing that has no price in it', async () => {
    const [mug, cup] = [await variant(10, { price: { EUR: 5, USD: 6 } }), await variant(5, { price: { EUR: 7 } })]
    const lines = [
      { variant: mug.id, quantity: 1 },
      { variant: cup.id, quantity: 1 },
    ]
    const refused = await take<ErrorBody>(lines, randomUUID(), 'USD')
    expect(refusal(refused)).toEqual([
      422,
      'unprocessable',
      `lines[1].variant: "${cup.sku}" has no price in USD; give it one, or leave the item out`,
    ])
    expect([await stockOf(mug.id), await stockOf(cup.id)]).toEqual([10, 5])
    const reservation = randomUUID()
    const { body } = await take(lines, reservation, 'EUR')
    expect(body.variants).toHaveLength(2)
    expect(body.variants).toContainEqual({
      id: mug.id,
      sku: mug.sku,
      title: expect.any(String),
      status: 'ACTIVE',
      price: { EUR: 5, USD: 6 },
    })
    expect((await take(lines, reservation, 'EUR')).body.variants).toBeUndefined()
    expect((await take(lines)).body.variants).toBeUndefined()
  })

  it('leaves a movement that tells the reason, the reservation and who', async () => {
    const mug = await variant(10)
    const reservation = randomUUID()
    await take([{ variant: mug.id, quantity: 4 }], reservation)
    expect(await movements(mug.id)).toEqual([
      { delta: -4, reason: 'taken', order_id: reservation, actor: client.caller.keyId },
    ])
  })

  it('asks for product.updated of each product once (OP-71)', async () => {
    const mug = await variant(10)
    await take([
      { variant: mug.id, quantity: 1 },
      { variant: mug.id, quantity: 1 },
    ])
    expect(await waiting(mug.product)).toEqual([
      { is_change: true, livemode: true, workspace_id: client.caller.workspaceId },
    ])
  })

  it.each([
    ['one line', 1],
    ['1,000 lines', 1000],
  ])('needs four statements for %s', async (_what, count) => {
    const mug = await variant(2000)
    takeStatements()
    const { status } = await take(Array.from({ length: count }, () => ({ variant: mug.id, quantity: 1 })))
    expect(status).toBe(200)
    expect(takeStatements()).toHaveLength(4)
    expect(await stockOf(mug.id)).toBe(2000 - count)
  })

  it('takes 1,000 different variants at once, and each product tells of it (OP-71)', async () => {
    const variants = await admin<{ id: string }[]>`
      with product as (
        insert into product (
          workspace_id, id, name, slug, type, status, requires_shipping, can_preorder, created_at, updated_at
        )
        select ${client.caller.workspaceId}, gen_random_uuid(), 'Mug', gen_random_uuid()::text, 'SIMPLE_PRODUCT', 'ACTIVE',
          true, false, now(), now()
        from generate_series(1, 1000)
        returning id
      )
      insert into variant (workspace_id, id, product_id, sku, stock, price, cost, attributes, position)
      select ${client.caller.workspaceId}, gen_random_uuid(), id, id::text, 2, '{}', '{}', '{}', 1 from product
      returning id`
    const { status, body } = await take(variants.map(({ id }) => ({ variant: id, quantity: 2 })))
    expect(status).toBe(200)
    expect(body.lines.map((line) => line.variant)).toEqual(variants.map(({ id }) => id).sort())
    const [left] = await admin`
      select sum(stock)::int as n from variant where id = any(${variants.map(({ id }) => id)}::uuid[])`
    expect(left?.n).toBe(0)
    while ((await db.inWorkspace(client.context, (tx) => refreshChunk(tx, new Date()))) > 0);
    const told = await admin<{ key: string }[]>`
      select key from outbox where type = 'product.updated' and key = any(${body.lines.map(({ product }) => product)})`
    expect(told.map(({ key }) => key).sort()).toEqual(body.lines.map(({ product }) => product).sort())
  })
})

describe('all lines or none', () => {
  it('refuses short stock with conflict, naming each line that is short', async () => {
    const [mug, cup, pot] = [await variant(3), await variant(0), await variant(9)]
    const answer = await take<ErrorBody>([
      { variant: pot.id, quantity: 9 },
      { variant: mug.id, quantity: 2 },
      { variant: cup.id, quantity: 1 },
      { variant: mug.id, quantity: 2 },
    ])
    const shorts = [
      { variant: mug.id, text: `lines[1].quantity: only 3 of "${mug.sku}" left; order 3 at most` },
      { variant: cup.id, text: `lines[2].quantity: only 0 of "${cup.sku}" left; leave it out, or wait for stock` },
    ].sort(byId)
    expect(refusal(answer)).toEqual([409, 'conflict', shorts.map(({ text }) => text).join('; ')])
    expect(await Promise.all([mug, cup, pot].map(({ id }) => stockOf(id)))).toEqual([3, 0, 9])
    expect(await movements(pot.id)).toEqual([])
    expect(await waiting(pot.product)).toEqual([])
  })

  it('lets a refused reservation be taken once there is enough', async () => {
    const mug = await variant(1)
    const reservation = randomUUID()
    expect((await take([{ variant: mug.id, quantity: 2 }], reservation)).status).toBe(409)
    await admin`update variant set stock = 2 where id = ${mug.id}`
    expect((await take([{ variant: mug.id, quantity: 2 }], reservation)).status).toBe(200)
    expect(await stockOf(mug.id)).toBe(0)
  })

  it('refuses a variant the workspace does not have with unprocessable, naming the line', async () => {
    const [mug, deleted] = [await variant(3), await variant(3)]
    const foreign = await stockClient(database, aCaller()).variant(3)
    await remove(deleted.product)
    for (const id of [randomUUID(), foreign.id, deleted.id]) {
      const before = await reservations()
      const answer = await take<ErrorBody>([
        { variant: mug.id, quantity: 1 },
        { variant: id, quantity: 1 },
      ])
      const message = `lines[1].variant: this workspace has no variant with the id "${id}"; correct it, or leave the item out`
      expect(refusal(answer)).toEqual([422, 'unprocessable', message])
      expect([await stockOf(mug.id), await reservations()]).toEqual([3, before])
    }
    expect(await stockOf(foreign.id)).toBe(3)
  })

  it.each(['HIDDEN', 'ARCHIVED'])(
    'refuses variants of %s products with unprocessable, naming each (OP-213)',
    async (status) => {
      const [mug, cup, pot] = [await variant(0, { status }), await variant(3, { status }), await variant(3)]
      const before = await reservations()
      const answer = await take<ErrorBody>([pot, mug, cup].map(({ id }) => ({ variant: id, quantity: 1 })))
      const refused = [
        {
          variant: mug.id,
          text: `lines[1].variant: "${mug.sku}" cannot be ordered while its product is ${status}; make the product ACTIVE, or leave the item out`,
        },
        {
          variant: cup.id,
          text: `lines[2].variant: "${cup.sku}" cannot be ordered while its product is ${status}; make the product ACTIVE, or leave the item out`,
        },
      ].sort(byId)
      expect(refusal(answer)).toEqual([422, 'unprocessable', refused.map(({ text }) => text).join('; ')])
      expect([await stockOf(cup.id), await stockOf(pot.id), await reservations()]).toEqual([3, 3, before])
    },
  )
})

describe('pre-orders', () => {
  const preordered = (preorder_stops_at: string | null) => variant(1, { can_preorder: true, preorder_stops_at })

  it.each([
    ['has no end', null],
    ['ends later', '2999-01-01T00:00:00Z'],
  ])('stock goes below 0 when the product can be pre-ordered and that %s', async (_when, stops) => {
    const mug = await preordered(stops)
    expect((await take([{ variant: mug.id, quantity: 3 }])).status).toBe(200)
    expect(await stockOf(mug.id)).toBe(-2)
    expect((await take([{ variant: mug.id, quantity: 1 }])).status).toBe(200)
    expect(await stockOf(mug.id)).toBe(-3)
  })

  it('stock is kept from going below 0 once pre-orders have ended, by the clock of the database', async () => {
    const mug = await preordered('2026-01-01T00:00:00Z')
    const stopping = async (interval: string) =>
      admin`update product set preorder_stops_at = now() + ${interval}::interval where id = ${mug.product}`
    await stopping('-1 second')
    const answer = await take<ErrorBody>([{ variant: mug.id, quantity: 2 }])
    expect(refusal(answer)).toEqual([
      409,
      'conflict',
      `lines[0].quantity: only 1 of "${mug.sku}" left; order 1 at most`,
    ])
    await stopping('1 minute')
    expect((await take([{ variant: mug.id, quantity: 2 }])).status).toBe(200)
    await stopping('-1 second')
    const below = await take<ErrorBody>([{ variant: mug.id, quantity: 1 }])
    expect(refusal(below)).toEqual([
      409,
      'conflict',
      `lines[0].quantity: only 0 of "${mug.sku}" left; leave it out, or wait for stock`,
    ])
    expect(await stockOf(mug.id)).toBe(-1)
  })

  it('an end without can_preorder allows nothing', async () => {
    const mug = await variant(1, { preorder_stops_at: '2999-01-01T00:00:00Z' })
    expect((await take([{ variant: mug.id, quantity: 2 }])).status).toBe(409)
  })

  it('no pre-order takes stock below −(2^53−1) (OP-07)', async () => {
    const mug = await preordered(null)
    const most = { variant: mug.id, quantity: Number.MAX_SAFE_INTEGER }
    expect((await take([most])).status).toBe(200)
    expect((await take([{ variant: mug.id, quantity: 1 }])).status).toBe(200)
    expect((await take([{ variant: mug.id, quantity: 1 }])).status).toBe(409)
    expect(await stockOf(mug.id)).toBe(-Number.MAX_SAFE_INTEGER)
  })
})

describe('the same reservation again (OP-95)', () => {
  it('gets the same answer and takes nothing, however its lines are split', async () => {
    const mug = await variant(5)
    const reservation = randomUUID()
    const first = await take([{ variant: mug.id, quantity: 5 }], reservation)
    const line = (quantity: number) => ({ variant: mug.id, quantity })
    const again = await take([line(2), line(3)], reservation.toUpperCase())
    expect([again.status, again.body]).toEqual([200, first.body])
    expect([await stockOf(mug.id), (await movements(mug.id)).length]).toEqual([0, 1])
  })

  it('gets the same answer even when the product has been deleted since', async () => {
    const mug = await variant(5)
    const reservation = randomUUID()
    const first = await take([{ variant: mug.id, quantity: 5 }], reservation)
    await remove(mug.product)
    expect((await take([{ variant: mug.id, quantity: 5 }], reservation)).body).toEqual(first.body)
  })

  it('is conflict with other lines', async () => {
    const [mug, cup] = [await variant(5), await variant(5)]
    const reservation = randomUUID()
    await take([{ variant: mug.id, quantity: 2 }], reservation)
    for (const lines of [
      [{ variant: mug.id, quantity: 3 }],
      [{ variant: cup.id, quantity: 2 }],
      [
        { variant: mug.id, quantity: 2 },
        { variant: cup.id, quantity: 1 },
      ],
    ]) {
      const message = `lines: reservation ${reservation} has taken other lines; release it and use another`
      expect(refusal(await take<ErrorBody>(lines, reservation))).toEqual([409, 'conflict', message])
    }
    expect([await stockOf(mug.id), await stockOf(cup.id)]).toEqual([3, 5])
  })

  it('is conflict once it was released', async () => {
    const mug = await variant(5)
    const reservation = randomUUID()
    await take([{ variant: mug.id, quantity: 2 }], reservation)
    await release(reservation)
    const message = `order: reservation ${reservation} was released; take stock under another id`
    expect(refusal(await take<ErrorBody>([{ variant: mug.id, quantity: 2 }], reservation))).toEqual([
      409,
      'conflict',
      message,
    ])
    expect(await stockOf(mug.id)).toBe(5)
  })

  it('in another workspace is another reservation', async () => {
    const other = stockClient(database, aCaller())
    const [mug, cup] = [await variant(5), await other.variant(5)]
    const reservation = randomUUID()
    await take([{ variant: mug.id, quantity: 2 }], reservation)
    expect((await other.take([{ variant: cup.id, quantity: 1 }], reservation)).status).toBe(200)
    await other.release(reservation)
    expect([await stockOf(mug.id), await stockOf(cup.id)]).toEqual([3, 5])
  })
})

describe('refuses', () => {
  const line = { variant: randomUUID(), quantity: 1 }
  const without = (member: 'variant' | 'quantity') => ({ ...line, [member]: undefined })
  it.each([
    ['no lines', [], 'lines: '],
    ['1,001 lines', Array.from({ length: 1001 }, () => line), 'lines: '],
    ['a variant that is no UUID', [{ ...line, variant: '7' }], 'lines[0].variant: must be a UUID'],
    ['a line without a variant', [without('variant')], 'lines[0].variant: '],
    ['a line without a quantity', [line, without('quantity')], 'lines[1].quantity: '],
    ['0 of something', [{ ...line, quantity: 0 }], 'lines[0].quantity: '],
    ['a quantity below 0', [{ ...line, quantity: -1 }], 'lines[0].quantity: '],
    ['half of something', [{ ...line, quantity: 0.5 }], 'lines[0].quantity: '],
    ['a quantity in text', [{ ...line, quantity: '1' }], 'lines[0].quantity: '],
    ['2^53', [{ ...line, quantity: 2 ** 53 }], 'lines[0].quantity: '],
    ['lines that add up to 2^53', [{ ...line, quantity: 2 ** 53 - 1 }, line], 'lines[1].quantity: makes more than '],
    ['an unknown member', [{ ...line, sku: 'MUG' }], 'lines[0].sku: unknown member'],
  ])('%s with bad_request', async (_what, lines, message) => {
    const answer = await take<ErrorBody>(lines as never)
    expect(refusal(answer)).toEqual([400, 'bad_request', expect.stringContaining(message)])
  })

  it.each(['', '7', 7, null])('the id %j with bad_request', async (reservation) => {
    expect(refusal(await take<ErrorBody>([line], reservation as never))).toEqual([
      400,
      'bad_request',
      expect.stringContaining('order: '),
    ])
  })
})
