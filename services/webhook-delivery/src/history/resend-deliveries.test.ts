import { randomUUID } from 'node:crypto'
import type { Caller } from '@backoffice/http/internal-token.ts'
import { aCaller } from '@backoffice/testing/caller.ts'
import { eventually } from '@backoffice/testing/eventually.ts'
import { startReceiver } from '@backoffice/testing/receiver.ts'
import { expect, test } from 'vitest'
import { anEvent, webhookDelivery } from '../testing/webhooks-api.ts'

interface Resends {
  deliveries: number
  skipped: number
  next: string | null
  error: { code: string; message: string }
}

const { admin, send, createEndpointAt, deliveriesOf, startReplica, takeStatements } = await webhookDelivery()
const resend = (caller: Caller, selection: unknown) => send<Resends>(caller, 'POST', '/v1/deliveries/resend', selection)

/** An endpoint with deliveries that nobody sends, so many of each status. */
async function anEndpointWith(caller: Caller, statuses: Readonly<Record<string, number>>) {
  const { id } = await createEndpointAt(caller, 'https://receiver.example/')
  for (const [status, deliveries] of Object.entries(statuses)) {
    await admin`
      insert into delivery (workspace_id, endpoint_id, id, event_id, event_type, status, created_at)
      select ${caller.workspaceId}, ${id}, uuidv7(), uuidv7(), 'tag.created', ${status}, now() from generate_series(1, ${deliveries}::integer)`
  }
  return id
}

/** How many deliveries of these endpoints are to be sent again. */
async function dueOf(...endpointIds: string[]): Promise<number> {
  const [row] = await admin`
    select count(*)::integer as due from delivery
    where endpoint_id = any(${endpointIds}::uuid[]) and resend_at is not null and resends_that_day > 0`
  return row?.due
}

test('what passes the filters is sent again, at all endpoints, and nothing else', async () => {
  const caller = aCaller()
  const { publish } = await startReplica()
  const receiver = await startReceiver()
  receiver.answerWith((response) => response.writeHead(200).end())
  const endpoints = [await createEndpointAt(caller, receiver.url), await createEndpointAt(caller, receiver.url)]
  const [wanted, other] = [anEvent(caller), anEvent(caller)]
  await publish(wanted, other)
  const attempts = async () =>
    (await Promise.all(endpoints.map((endpoint) => deliveriesOf(caller, endpoint))))
      .flat()
      .map(({ event_id, attempts_made }) => [event_id, attempts_made])
  await eventually(
    'all are delivered',
    async () => (await attempts()).every(([, made]) => made === 1) && (await attempts()).length === 4,
  )
  const { id: resource_id } = wanted.data as { id: string }
  expect(await resend(caller, { resource_id })).toMatchObject({
    status: 202,
    body: { deliveries: 2, skipped: 0, next: null },
  })
  await eventually('they are sent again', async () => (await attempts()).filter(([, made]) => made === 2).length === 2)
  expect(await attempts()).toEqual(
    expect.arrayContaining([
      [wanted.id, 2],
      [other.id, 1],
    ]),
  )
})

test('up to 1,000 at once, by the same statements as one; next leads to the rest, and each counts once', async () => {
  const caller = aCaller()
  const one = await anEndpointWith(caller, { FAILED: 1 })
  const statementsOf = async (selection: unknown) => {
    takeStatements()
    const { body } = await resend(caller, selection)
    return { body, statements: takeStatements().length }
  }
  const single = await statementsOf({ endpoint_id: one, status: ['FAILED'] })
  const many = await anEndpointWith(caller, { FAILED: 1300, DELIVERED: 40 })
  const first = await statementsOf({ endpoint_id: many, status: ['FAILED'] })
  expect(first.body).toEqual({ deliveries: 1000, skipped: 0, next: expect.any(String) })
  expect(first.statements).toBe(single.statements)
  const { body } = await resend(caller, { endpoint_id: many, status: ['FAILED'], after: first.body.next })
  expect(body).toEqual({ deliveries: 300, skipped: 0, next: null })
  expect(await dueOf(many)).toBe(1300)
})

test('the 100 of a day count for each, and those that had them are skipped (OP-122)', async () => {
  const caller = aCaller()
  const endpoint = await anEndpointWith(caller, { FAILED: 3 })
  await admin`
    update delivery set resend_day = (now() at time zone 'UTC')::date, resends_that_day = 99 where endpoint_id = ${endpoint}`
  const [worn] = await deliveriesOf(caller, { id: endpoint })
  expect((await send(caller, 'POST', `/v1/webhooks/${endpoint}/deliveries/${worn?.id}/resend`)).status).toBe(202)
  expect((await resend(caller, { endpoint_id: endpoint })).body).toEqual({ deliveries: 2, skipped: 1, next: null })
  expect((await resend(caller, { endpoint_id: endpoint })).body).toEqual({ deliveries: 0, skipped: 3, next: null })
})

test('ids are those of an endpoint; one that is not found is refused, and nothing is sent', async () => {
  const caller = aCaller()
  const endpoint = await anEndpointWith(caller, { DELIVERED: 3 })
  const ids = (await deliveriesOf(caller, { id: endpoint })).map(({ id }) => id)
  const refused = await resend(caller, { endpoint_id: endpoint, ids: [ids[0], randomUUID()] })
  expect([refused.status, refused.body.error.message]).toEqual([
    422,
    'ids[1]: is no delivery that is found; leave it out',
  ])
  const without = await resend(caller, { ids })
  expect([without.status, without.body.error.message]).toEqual([
    422,
    expect.stringMatching(/^endpoint_id: is required/),
  ])
  expect((await resend(aCaller(), { endpoint_id: endpoint, ids })).status).toBe(422)
  expect(await dueOf(endpoint)).toBe(0)
  expect((await resend(caller, { endpoint_id: endpoint, ids: ids.slice(1) })).body).toMatchObject({ deliveries: 2 })
  expect(await dueOf(endpoint)).toBe(2)
})

test('deliveries are locked the oldest first, as results lock them, so that neither waits for the other', async () => {
  const caller = aCaller()
  // So many that each is found by its key.
  const endpoint_id = await anEndpointWith(caller, { FAILED: 20_000 })
  await admin`analyze delivery`
  const rows = await admin<{ id: string }[]>`
    select id from delivery where endpoint_id = ${endpoint_id} order by id limit 3`
  const [oldest = '', ...others] = rows.map(({ id }) => id)
  const ids = [oldest, ...others]
  const { resending } = await admin.begin(async (tx) => {
    await tx`select from delivery where id = ${oldest} for update`
    const resending = resend(caller, { endpoint_id, ids })
    await eventually('it waits for the oldest', async () => {
      const waiting = await admin`
        select from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`
      return waiting.length > 0
    })
    const free = await admin<{ id: string }[]>`
      select id from delivery where id = any(${others}::uuid[]) order by id for update skip locked`
    expect(free.map(({ id }) => id)).toEqual(others)
    return { resending }
  })
  expect((await resending).body.deliveries).toBe(3)
})

test('a selection without a filter is refused', async () => {
  const caller = aCaller()
  const endpoint = await anEndpointWith(caller, { FAILED: 1 })
  for (const selection of [{}, { status: null }]) {
    const { status, body } = await resend(caller, selection)
    expect([status, body.error.message]).toEqual([
      422,
      'the selection is empty; send at least one filter, such as since',
    ])
  }
  expect(await dueOf(endpoint)).toBe(0)
})

test("another workspace's deliveries, and those of a deleted endpoint, are not among them", async () => {
  const [caller, other] = [aCaller(), aCaller()]
  const [gone, theirs] = [await anEndpointWith(caller, { FAILED: 2 }), await anEndpointWith(other, { FAILED: 2 })]
  await send(caller, 'DELETE', `/v1/webhooks/${gone}`)
  expect((await resend(caller, { status: ['FAILED'] })).body).toEqual({ deliveries: 0, skipped: 0, next: null })
  expect((await resend(caller, { endpoint_id: theirs })).body.deliveries).toBe(0)
  expect(await dueOf(gone, theirs)).toBe(0)
})

test("an app's key sends again what its own endpoints had only, and a merchant what those of an app had (OP-231, OP-285)", async () => {
  const merchant = aCaller()
  const keyId = randomUUID()
  const app = aCaller({ workspaceId: merchant.workspaceId, keyId, appKeyId: keyId })
  const registered = await send(
    aCaller({ workspaceId: merchant.workspaceId, scopes: [] }),
    'PUT',
    `/internal/app-keys/${keyId}`,
    {
      installation: randomUUID(),
      provider: 'app',
      endpoint: null,
    },
  )
  expect(registered.status).toBe(204)
  const [own, foreign] = [await anEndpointWith(app, { FAILED: 2 }), await anEndpointWith(merchant, { FAILED: 3 })]
  expect((await resend(app, { status: ['FAILED'] })).body.deliveries).toBe(2)
  expect((await resend(app, { endpoint_id: foreign })).body.deliveries).toBe(0)
  expect([await dueOf(own), await dueOf(foreign)]).toEqual([2, 0])
  expect((await resend(merchant, { status: ['FAILED'] })).body.deliveries).toBe(5)
  expect((await resend(merchant, { app: 'other' })).body.deliveries).toBe(0)
  expect((await resend(merchant, { app: 'app' })).body.deliveries).toBe(2)
})

test.each(['pending', '', 5])('a status %j is refused', async (status) => {
  expect(await resend(aCaller(), { status: [status] })).toMatchObject({
    status: 400,
    body: { error: { code: 'bad_request' } },
  })
})

test('more than 1,000 ids are refused', async () => {
  const ids = Array.from({ length: 1001 }, () => randomUUID())
  expect(await resend(aCaller(), { endpoint_id: randomUUID(), ids })).toMatchObject({ status: 400 })
})
