import type { Customer } from '@backoffice/contracts/customer.ts'
import { aCaller, type Caller } from '@backoffice/testing/caller.ts'
import { describe, expect, it, test } from 'vitest'
import { customersApi } from './testing/customers-api.ts'

const { admin, create, recordsOf, send, takeStatements } = await customersApi()
const post = (caller: Caller, body: unknown) =>
  send<Customer & { error: { code: string; message: string } }>(caller, 'POST', '/v1/customers', body)

test('a customer is created with all members, and customer.created has the body (OP-40, OP-67)', async () => {
  const caller = aCaller()
  const members = { firstname: 'Ada', lastname: 'Byron', email: 'Ada@Example.com', phone: '+44 1', note: '' }
  const { status, body } = await post(caller, members)
  expect(status).toBe(201)
  expect(body).toEqual({ ...members, id: body.id, created_at: body.created_at, updated_at: body.created_at })
  expect((await send(caller, 'GET', `/v1/customers/${body.id}`)).body).toEqual(body)
  expect(await recordsOf(body.id)).toEqual([{ type: 'customer.created', topic: 'orders.events', data: body }])
})

test('only firstname is required; what is not sent is null (OP-09, OP-40)', async () => {
  const caller = aCaller()
  expect(await create(caller, { phone: null })).toMatchObject({ lastname: null, email: null, phone: null, note: null })
  for (const body of [{}, { firstname: null }, { firstname: '' }, { firstname: ' ' }, { lastname: 'Byron' }]) {
    const answer = await post(caller, body)
    expect([answer.status, answer.body.error.code, answer.body.error.message]).toEqual([
      400,
      'bad_request',
      expect.stringContaining('firstname'),
    ])
  }
})

test('a member that nobody knows is bad_request and named (OP-09)', async () => {
  const { status, body } = await post(aCaller(), { firstname: 'Ada', name: 'Byron' })
  expect([status, body.error.message]).toEqual([400, 'name: unknown member'])
})

test.each([
  ['ada@example.com', 201],
  ['Ada.Byron+shop@Example.CO', 201],
  ["o'neil@sub.example-shop.org", 201],
  ['a@b.io', 201],
  ['50%_off/a&b=c@xn--e1afmkfd.xn--p1ai', 201],
  [`${'a'.repeat(64)}@${'b'.repeat(186)}.com`, 201],
  ['ada', 400],
  ['ada@example', 400],
  ['@example.com', 400],
  ['ada@@example.com', 400],
  ['ada @example.com', 400],
  ['ada..b@example.com', 400],
  ['adä@example.com', 400],
  ['', 400],
  [`${'a'.repeat(65)}@example.com`, 400],
  [`${'a'.repeat(64)}@${'b'.repeat(187)}.com`, 400],
])('the e-mail address "%s" is answered %i (OP-40)', async (email, expected) => {
  const { status, body } = await post(aCaller(), { firstname: 'Ada', email })
  expect([status, expected === 201 ? body.email : body.error.code]).toEqual([
    expected,
    expected === 201 ? email : 'bad_request',
  ])
})

describe('an e-mail address', () => {
  it('belongs to one customer of a workspace, whatever its case (OP-40)', async () => {
    const [caller, other] = [aCaller(), aCaller()]
    await create(caller, { email: 'Ada@Example.com' })
    const { status, body } = await post(caller, { firstname: 'Eve', email: 'aDA@eXAMPLE.com' })
    expect([status, body.error.code, body.error.message]).toEqual([
      409,
      'conflict',
      'email: belongs to another customer of this workspace; change that one, or send another address',
    ])
    expect((await post(other, { firstname: 'Eve', email: 'ada@example.com' })).status).toBe(201)
    await create(caller)
    await create(caller)
  })

  it('is taken once by 20 clients at once, and the others are told conflict (OP-40)', async () => {
    const caller = aCaller()
    const answers = await Promise.all(
      Array.from({ length: 20 }, (_, index) =>
        post(caller, { firstname: 'Ada', email: index % 2 ? 'Ada@example.com' : 'ADA@example.com' }),
      ),
    )
    expect(answers.map(({ status }) => status).toSorted()).toEqual([201, ...Array(19).fill(409)])
    const events = await admin`select from outbox where workspace_id = ${caller.workspaceId}`
    expect(events).toHaveLength(1)
  })
})

test('a create sent again with its Idempotency-Key has the first answer (OP-08)', async () => {
  const caller = aCaller()
  const again = () =>
    send<Customer>(
      caller,
      'POST',
      '/v1/customers',
      { firstname: 'Ada', email: 'a@example.com' },
      { 'idempotency-key': 'k' },
    )
  const first = await again()
  expect([first.status, (await again()).body]).toEqual([201, first.body])
})

test('it sends two statements besides those of the transaction', async () => {
  const caller = aCaller()
  takeStatements()
  await create(caller, { email: 'a@example.com' })
  expect(takeStatements().filter((text) => /insert|select .* from/is.test(text))).toHaveLength(2)
})

test('each operation needs the scope of its method (OP-04)', async () => {
  const caller = aCaller()
  const { id } = await create(caller)
  for (const [method, path, scope] of [
    ['POST', '/v1/customers', 'customer::create'],
    ['GET', '/v1/customers', 'customer::read'],
    ['GET', `/v1/customers/${id}`, 'customer::read'],
    ['PUT', `/v1/customers/${id}`, 'customer::update'],
    ['DELETE', `/v1/customers/${id}`, 'customer::delete'],
  ] as const) {
    const scopes = ['create', 'read', 'update', 'delete'].map((action) => `customer::${action}`)
    const without = { ...caller, scopes: ['sale', ...scopes.filter((other) => other !== scope)] }
    const body = method === 'POST' || method === 'PUT' ? { firstname: 'Eve' } : undefined
    const refused = await send(without, method, path, body)
    expect([refused.status, refused.body.error.message]).toEqual([403, `API key lacks required scope: ${scope}`])
    expect((await send({ ...caller, scopes: [scope] }, method, path, body)).status).toBeLessThan(300)
  }
})
