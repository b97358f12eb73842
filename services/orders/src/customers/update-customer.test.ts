import type { Customer } from '@backoffice/contracts/customer.ts'
import type { Caller } from '@backoffice/http/internal-token.ts'
import { aCaller } from '@backoffice/testing/caller.ts'
import { expect, test } from 'vitest'
import { customersApi } from './testing/customers-api.ts'

const { create, recordsOf, send } = await customersApi()
const put = (caller: Caller, id: string, body: unknown) =>
  send<Customer & { error: { code: string; message: string } }>(caller, 'PUT', `/v1/customers/${id}`, body)
const full = { lastname: 'Byron', email: 'Ada@example.com', phone: '+44 1', note: 'VIP' }

test('every member is optional; what is not sent stays (OP-40)', async () => {
  const caller = aCaller()
  const other = await create(caller, full)
  for (const change of [
    { firstname: 'Augusta' },
    { lastname: 'King' },
    { email: 'new@example.com' },
    { phone: '+44 2' },
    { note: '' },
  ]) {
    const customer = await create(caller, { ...full, email: `${Object.keys(change)[0]}@example.com` })
    const { status, body } = await put(caller, customer.id, change)
    expect(status).toBe(200)
    expect(body).toEqual({ ...customer, ...change, updated_at: body.updated_at })
    expect(body.updated_at > customer.updated_at).toBe(true)
    expect(await recordsOf(customer.id)).toEqual([
      { type: 'customer.created', topic: 'orders.events', data: customer },
      { type: 'customer.updated', topic: 'orders.events', data: body },
    ])
  }
  expect((await send(caller, 'GET', `/v1/customers/${other.id}`)).body).toEqual(other)
})

test('null unsets a member, but the firstname cannot be emptied (OP-09, OP-40)', async () => {
  const caller = aCaller()
  const { id } = await create(caller, full)
  const unset = { lastname: null, email: null, phone: null, note: null }
  expect((await put(caller, id, unset)).body).toMatchObject({ firstname: 'Ada', ...unset })
  for (const firstname of [null, '', '  ']) {
    const { status, body } = await put(caller, id, { firstname })
    expect([status, body.error.code]).toEqual([400, 'bad_request'])
    expect(body.error.message).toContain('firstname')
  }
  expect((await put(caller, id, { email: 'ada' })).status).toBe(400)
  expect((await put(caller, id, { id })).status).toBe(400)
})

test('an update that changes nothing fires no event and leaves updated_at (OP-73)', async () => {
  const caller = aCaller()
  const before = await create(caller, full)
  for (const body of [{}, full, { firstname: 'Ada' }]) {
    expect(await put(caller, before.id, body)).toMatchObject({ status: 200, body: before })
  }
  expect(await recordsOf(before.id)).toHaveLength(1)
})

test('the e-mail address of another customer is conflict; its own may change its case (OP-40)', async () => {
  const caller = aCaller()
  const ada = await create(caller, full)
  const eve = await create(caller, { email: 'eve@example.com' })
  const { status, body } = await put(caller, eve.id, { email: 'ada@EXAMPLE.com', note: 'not written' })
  expect([status, body.error.code, body.error.message]).toEqual([
    409,
    'conflict',
    'email: belongs to another customer of this workspace; change that one, or send another address',
  ])
  expect((await send(caller, 'GET', `/v1/customers/${eve.id}`)).body).toEqual(eve)
  expect((await put(caller, ada.id, { email: 'ADA@example.com' })).body.email).toBe('ADA@example.com')
})

test('of 20 customers that take one e-mail address at once, one gets it (OP-40)', async () => {
  const caller = aCaller()
  const customers = await Promise.all(Array.from({ length: 20 }, () => create(caller)))
  const answers = await Promise.all(customers.map(({ id }) => put(caller, id, { email: 'ada@example.com' })))
  expect(answers.map(({ status }) => status).toSorted()).toEqual([200, ...Array(19).fill(409)])
})

test('a customer of another workspace is not found, nor is an unknown one; an id that is no UUID is bad_request', async () => {
  const { id } = await create(aCaller())
  const caller = aCaller()
  for (const [method, body] of [['GET'], ['PUT', { firstname: 'Eve' }], ['DELETE']] as const) {
    const { status, body: answer } = await send(caller, method, `/v1/customers/${id}`, body)
    expect([status, answer.error.message]).toEqual([404, `id: this workspace has no customer ${id}`])
    expect((await send(caller, method, '/v1/customers/ada', body)).status).toBe(400)
  }
})
