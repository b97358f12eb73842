import { randomUUID } from 'node:crypto'
import type { Caller } from '@backoffice/http/internal-token.ts'
import { aCaller } from '@backoffice/testing/caller.ts'
import { eventually } from '@backoffice/testing/eventually.ts'
import { startReceiver } from '@backoffice/testing/receiver.ts'
import { expect, it } from 'vitest'
import { anEvent, type CreatedEndpoint, webhookDelivery } from '../testing/webhooks-api.ts'

const { send, admin, createEndpointAt, deliveriesOf, startReplica, takeStatements } = await webhookDelivery()
const replica = await startReplica()

/** An endpoint with so many failed deliveries, whose receiver answers 2xx by now. */
async function anEndpointThatFailed(caller: Caller, count: number) {
  const receiver = await startReceiver()
  receiver.answerWith((response) => response.writeHead(500).end())
  const endpoint = await createEndpointAt(caller, receiver.url)
  await replica.publish(...Array.from({ length: count }, () => anEvent(caller)))
  await eventually('all are attempted', async () => {
    const [row] = await admin`
      select count(*)::int as count from delivery where endpoint_id = ${endpoint.id} and attempts_made = 1`
    return row?.count === count
  })
  await admin`update delivery set status = 'FAILED', next_attempt_at = null where endpoint_id = ${endpoint.id}`
  receiver.answerWith((response) => response.writeHead(204).end())
  receiver.requests.length = 0
  return { endpoint, receiver }
}

const recover = (caller: Caller, { id }: Pick<CreatedEndpoint, 'id'>, since: unknown) =>
  send<{ since: string; deliveries: number }>(caller, 'POST', `/v1/webhooks/${id}/recover`, { since })

it('sends again what failed since then, each once, more than fit in one step', async () => {
  const caller = aCaller()
  const { endpoint, receiver } = await anEndpointThatFailed(caller, 250)
  const since = new Date(Date.now() - 60_000).toISOString()
  const { status, body } = await recover(caller, endpoint, since)
  expect([status, body]).toEqual([202, { since, deliveries: 250 }])
  await eventually('all are delivered', async () => {
    const [row] = await admin`
      select count(*)::int as count from delivery where endpoint_id = ${endpoint.id} and status = 'DELIVERED'`
    return row?.count === 250
  })
  expect(new Set(receiver.requests.map(({ headers }) => headers['webhook-id'])).size).toBe(250)
  expect(receiver.requests).toHaveLength(250)
  await eventually(
    'the recovery is over',
    async () => (await admin`select from recovery where status = 'RUNNING'`).length === 0,
  )
})

it('leaves alone what failed before, and what is delivered or pending', async () => {
  const caller = aCaller()
  const { endpoint, receiver } = await anEndpointThatFailed(caller, 3)
  const [old, done] = await deliveriesOf(caller, endpoint)
  await admin`
    update delivery set id = uuidv7(interval '-2 days'), created_at = now() - interval '2 days' where id = ${old?.id ?? ''}`
  await admin`update delivery set status = 'DELIVERED' where id = ${done?.id ?? ''}`
  const { body } = await recover(caller, endpoint, new Date(Date.now() - 3_600_000).toISOString())
  expect(body.deliveries).toBe(1)
  await eventually('it is delivered', async () => receiver.requests.length === 1)
  await eventually(
    'the recovery is over',
    async () => (await admin`select from recovery where status = 'RUNNING'`).length === 0,
  )
  expect(receiver.requests).toHaveLength(1)
})

it('refuses a time in the future, one that is none, and another workspace’s endpoint', async () => {
  const caller = aCaller()
  const endpoint = await createEndpointAt(caller, 'http://127.0.0.1:9/')
  const codeOf = async (who: Caller, which: { id: string }, body: unknown) => {
    const answer = await send(who, 'POST', `/v1/webhooks/${which.id}/recover`, body)
    return [answer.status, answer.body.error.code, answer.body.error.message.split(':')[0]]
  }
  const future = new Date(Date.now() + 60_000).toISOString()
  expect(await codeOf(caller, endpoint, { since: future })).toEqual([422, 'unprocessable', 'since'])
  expect(await codeOf(caller, endpoint, { since: 'yesterday' })).toEqual([400, 'bad_request', 'since'])
  expect(await codeOf(caller, endpoint, {})).toEqual([400, 'bad_request', 'since'])
  const past = new Date().toISOString()
  expect(await codeOf(aCaller(), endpoint, { since: past })).toEqual([404, 'not_found', 'id'])
  expect(await codeOf(caller, { id: randomUUID() }, { since: past })).toEqual([404, 'not_found', 'id'])
  expect(await admin`select from recovery where endpoint_id = ${endpoint.id}`).toHaveLength(0)
})

it('counts what failed by the kept counts, however much that is, and reads the deliveries of one hour alone', async () => {
  const caller = aCaller()
  const endpoint = await createEndpointAt(caller, 'http://127.0.0.1:9/')
  await admin`
    insert into hourly_delivery_count (workspace_id, endpoint_id, hour, event_day, event_type, status, shard, deliveries)
    select ${caller.workspaceId}, ${endpoint.id}, date_bin('1 hour', now(), 'epoch') - interval '5 hours', current_date,
      'tag.created', status, 0, deliveries
    from (values ('FAILED', 3000000), ('DELIVERED', 7)) as counted (status, deliveries)`
  takeStatements()
  const { status, body } = await recover(caller, endpoint, new Date(Date.now() - 86_400_000).toISOString())
  expect([status, body.deliveries]).toEqual([202, 3_000_000])
  // Transaction, workspace, time, count, recovery.
  expect(takeStatements()).toHaveLength(6)
})
