import type { Order } from '@backoffice/contracts/order.ts'
import { aCaller, type Caller } from '@backoffice/testing/caller.ts'
import { expect, it } from 'vitest'
import { ordersService } from '../testing/orders-api.ts'
import type { FormSchemaBody } from './get-form-schema.ts'
import { LARGE, SLOW } from './testing/costly-forms.ts'

const { send, replica, catalog, createOrder, takeStatements } = await ordersService()

const ENGRAVED = {
  required: ['occasion'],
  properties: {
    occasion: { enum: ['wedding', 'birthday'] },
    items: { items: { properties: { engraving: { type: 'string', maxLength: 20 } } } },
  },
}

const saveForm = (caller: Caller, schema: unknown, client = send) =>
  client<FormSchemaBody>(caller, 'PUT', '/v1/orders/form', { schema })

/** A caller whose workspace has a form, and an order form of one variant. */
async function workspaceWith(schema: object | null) {
  const caller = aCaller()
  const variant = await catalog.addVariant(caller)
  if (schema) expect((await saveForm(caller, schema)).status).toBe(200)
  const order = { currency: 'EUR', items: [{ variant: variant.id, quantity: 2 }] }
  return { caller, variant, order }
}

it('a workspace without a form of its own has null, and any members in its orders (OP-41)', async () => {
  const { caller, order } = await workspaceWith(null)
  expect(await send(caller, 'GET', '/v1/orders/form')).toMatchObject({ status: 200, body: { schema: null } })
  expect((await send(caller, 'POST', '/v1/orders', { ...order, occasion: 3 })).status).toBe(201)
})

it("a workspace's form is answered as it was sent, and null resets it (OP-41)", async () => {
  const { caller, order } = await workspaceWith(null)
  expect(await saveForm(caller, ENGRAVED)).toMatchObject({ status: 200, body: { schema: ENGRAVED } })
  expect((await send(caller, 'GET', '/v1/orders/form')).body).toEqual({ schema: ENGRAVED })
  expect((await send(caller, 'POST', '/v1/orders', order)).status).toBe(400)
  expect(await saveForm(caller, null)).toMatchObject({ status: 200, body: { schema: null } })
  expect((await send(caller, 'GET', '/v1/orders/form')).body).toEqual({ schema: null })
  expect((await send(caller, 'POST', '/v1/orders', order)).status).toBe(201)
})

it('an order that breaks the form is bad_request with the path of the member (OP-09, OP-41)', async () => {
  const { caller, order } = await workspaceWith(ENGRAVED)
  const refusalOf = async (members: object) => {
    const { status, body } = await send(caller, 'POST', '/v1/orders', { ...order, ...members })
    expect([status, body.error.code]).toEqual([400, 'bad_request'])
    return body.error.message
  }
  const [item] = order.items
  expect(await refusalOf({ occasion: 'wedding', items: [{ ...item, engraving: 3 }] })).toBe(
    'items[0].engraving: must be string',
  )
  expect(await refusalOf({ occasion: 'funeral' })).toBe('occasion: must be one of ["wedding","birthday"]')
  expect(await refusalOf({})).toBe('occasion: must be given (it is missing)')
  expect(await refusalOf({ occasion: 'wedding', currency: 'euro' })).toBe('currency: is not an ISO 4217 currency code')
})

it('an order that breaks the form takes no stock (OP-41, OP-44)', async () => {
  const { caller, order, variant } = await workspaceWith(ENGRAVED)
  expect((await send(caller, 'POST', '/v1/orders', { ...order, status: 'PLACED' })).status).toBe(400)
  expect(await catalog.stockOf(variant.id)).toBe(100)
})

it('a submitted form is read exactly as it was sent, with extra members (OP-41)', async () => {
  const { caller, order, variant } = await workspaceWith(ENGRAVED)
  const form = {
    extra: { Deep: [1.5, null, { 'ü ~/': '' }] },
    occasion: 'wedding',
    ...order,
    items: [{ quantity: 1, engraving: 'Ada & Charles', variant: variant.id.toUpperCase() }],
  }
  const { status, body } = await send<Order>(caller, 'POST', '/v1/orders', form)
  expect(status).toBe(201)
  expect(body).not.toHaveProperty('extra')
  const read = await send(caller, 'GET', `/v1/orders/${body.id}/form`)
  expect(read.status).toBe(200)
  expect(JSON.stringify(read.body)).toBe(JSON.stringify(form))
})

it('the form of an unknown order, or of another workspace, is not_found (OP-41)', async () => {
  const { id } = await createOrder(aCaller())
  for (const each of [id, crypto.randomUUID()]) {
    const { status, body } = await send(aCaller(), 'GET', `/v1/orders/${each}/form`)
    expect([status, body.error.message]).toEqual([404, `id: this workspace has no order ${each}`])
  }
  expect((await send(aCaller(), 'GET', '/v1/orders/first/form')).status).toBe(400)
})

it('reading forms needs sale::read, replacing them sale::update (OP-41)', async () => {
  const reader = aCaller({ scopes: ['sale::read'] })
  expect((await send(reader, 'GET', '/v1/orders/form')).status).toBe(200)
  expect((await saveForm(reader, null)).status).toBe(403)
  const writer = aCaller({ scopes: ['sale::update'] })
  expect((await saveForm(writer, null)).status).toBe(200)
  expect((await send(writer, 'GET', '/v1/orders/form')).status).toBe(403)
  expect((await send(writer, 'GET', `/v1/orders/${crypto.randomUUID()}/form`)).status).toBe(403)
})

it.each<[string, unknown, number, string]>([
  ['without a schema', {}, 400, 'schema: '],
  ['that is no object', { schema: true }, 400, 'schema: '],
  ['with another member', { schema: {}, version: 1 }, 400, 'version: unknown member'],
  ['of an unknown type', { schema: { not: { type: 'text' } } }, 400, 'schema.not.type: must be one of array'],
  ['elsewhere', { schema: { $ref: 'https://example.com/form' } }, 422, 'schema.$ref: must be a path in this schema'],
  ['above 64 KiB', { schema: { title: 'a'.repeat(64 * 1024) } }, 422, 'schema: must not be above 65536 bytes of JSON'],
])('a form %s is refused and leaves the one before (OP-134)', async (_, body, status, message) => {
  const { caller } = await workspaceWith(ENGRAVED)
  const answer = await send(caller, 'PUT', '/v1/orders/form', body)
  expect([answer.status, answer.body.error.message.slice(0, message.length)]).toEqual([status, message])
  expect((await send(caller, 'GET', '/v1/orders/form')).body).toEqual({ schema: ENGRAVED })
})

it('a form that nests deeper than a request may is bad_request (OP-07, OP-134)', async () => {
  const schema = JSON.parse(`${'{"not":'.repeat(40)}{}${'}'.repeat(40)}`)
  const answer = await send(aCaller(), 'PUT', '/v1/orders/form', { schema })
  expect(answer).toMatchObject({ status: 400, body: { error: { message: 'body: nests deeper than 32 levels' } } })
})

it('another replica checks orders by a new form at once (OP-41)', async () => {
  const other = replica()
  const { caller, order } = await workspaceWith(null)
  for (const occasion of ['wedding', 'birthday', 'wedding']) {
    await saveForm(caller, { properties: { occasion: { const: occasion } }, required: ['occasion'] })
    expect((await other(caller, 'POST', '/v1/orders', { ...order, occasion })).status).toBe(201)
    const refused = await other(caller, 'POST', '/v1/orders', { ...order, occasion: 'funeral' })
    expect(refused.body.error.message).toBe(`occasion: must be ${JSON.stringify(occasion)}`)
  }
  await saveForm(caller, null)
  expect((await other(caller, 'POST', '/v1/orders', order)).status).toBe(201)
})

it('of two forms at once one holds, on all replicas (OP-41)', async () => {
  const other = replica()
  const { caller, order } = await workspaceWith(null)
  const form = (occasion: string) => ({ properties: { occasion: { const: occasion } } })
  const answers = await Promise.all([
    saveForm(caller, form('wedding')),
    saveForm(caller, form('birthday'), other),
    saveForm(caller, form('wedding'), other),
    saveForm(caller, form('birthday')),
  ])
  expect(answers.map(({ status }) => status)).toEqual([200, 200, 200, 200])
  const { schema } = (await send<{ schema: ReturnType<typeof form> }>(caller, 'GET', '/v1/orders/form')).body
  for (const client of [send, other]) {
    for (const occasion of ['wedding', 'birthday']) {
      const { status } = await client(caller, 'POST', '/v1/orders', { ...order, occasion })
      expect(status).toBe(occasion === schema.properties.occasion.const ? 201 : 400)
    }
  }
})

it('a repeated request has its first answer, whatever the form is now (OP-08, OP-41)', async () => {
  const { caller, order } = await workspaceWith(null)
  const key = { 'idempotency-key': crypto.randomUUID() }
  const first = await send<Order>(caller, 'POST', '/v1/orders', order, key)
  await saveForm(caller, ENGRAVED)
  expect(await send<Order>(caller, 'POST', '/v1/orders', order, key)).toMatchObject({ status: 201, body: first.body })
})

it('the form costs an order one statement, with a form or without (OP-41)', async () => {
  for (const schema of [null, ENGRAVED]) {
    const { caller, order } = await workspaceWith(schema)
    await send(caller, 'POST', '/v1/orders', { ...order, occasion: 'wedding' })
    takeStatements()
    await send(caller, 'POST', '/v1/orders', { ...order, occasion: 'wedding' })
    expect(takeStatements().filter((statement) => statement.includes('order_form_schema'))).toHaveLength(1)
  }
})

it('orders of other workspaces are created while one has forms and orders that are too costly (OP-135)', async () => {
  const hostile = await workspaceWith(SLOW.schema)
  const large = await workspaceWith(LARGE.schema)
  const other = await workspaceWith(ENGRAVED)
  const without = await workspaceWith(null)
  const ended: string[] = []
  const create = async (name: string, { caller, order }: typeof other, members: object) => {
    const { status, body } = await send(caller, 'POST', '/v1/orders', { ...order, ...members })
    ended.push(name)
    return status === 422 ? body.error.message.split(';')[0] : status
  }
  const costly = "The workspace's order form is too costly for this order"
  const attack = [
    ...['slow 1', 'slow 2', 'slow 3'].map((name) => create(name, hostile, SLOW.members)),
    create('large', large, LARGE.members),
  ]
  const orders = ['form', 'no form'].map((name) =>
    create(name, name === 'form' ? other : without, { occasion: 'wedding' }),
  )
  expect(await Promise.all(orders)).toEqual([201, 201])
  // Of a workspace's large bodies two are worked on at once; one that waits 5 s for its turn is refused (OP-161).
  expect(await Promise.all(attack)).toEqual([costly, costly, expect.toBeOneOf([costly, 429]), costly])
  expect(ended.indexOf('form')).toBeLessThan(ended.indexOf('slow 3'))
  expect(ended.indexOf('no form')).toBeLessThan(ended.indexOf('slow 3'))
  // The workspace itself goes on, too.
  expect(await create('easy', hostile, {})).toBe(201)
})
