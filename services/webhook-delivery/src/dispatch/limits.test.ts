import { setTimeout as pause } from 'node:timers/promises'
import type { Caller } from '@backoffice/http/internal-token.ts'
import { aCaller } from '@backoffice/testing/caller.ts'
import { eventually } from '@backoffice/testing/eventually.ts'
import { startReceiver } from '@backoffice/testing/receiver.ts'
import { expect, test } from 'vitest'
import { anEvent, webhookDelivery } from '../testing/webhooks-api.ts'

const MINUTE = 60_000
const { admin, send, createEndpointAt, deliveriesOf, startReplica } = await webhookDelivery()
const receiver = await startReceiver()

const receivedAt = (path: string) => receiver.requests.filter((request) => request.path === path)
const arrivalAt = (path: string, count = 1) =>
  eventually(`${count} requests at ${path}`, () => receivedAt(path).length >= count)

/** An endpoint at a path of the receiver, with a limit of requests per second. */
async function anEndpoint(path: string, caller: Caller, perSecond?: number) {
  const endpoint = await createEndpointAt(caller, `${receiver.url}${path}`)
  if (perSecond !== undefined)
    await send(caller, 'POST', `/v1/webhooks/${endpoint.id}/limits`, { requests_per_second: perSecond })
  return endpoint
}

const events = (caller: Caller, count: number) => Array.from({ length: count }, () => anEvent(caller))

/** When the attempts to an endpoint began, in milliseconds, once so many are recorded. */
const startsOf = ({ id }: { id: string }, count: number): Promise<number[]> =>
  eventually(`${count} are recorded`, async () => {
    const rows = await admin<{ startedAt: Date }[]>`
      select started_at as "startedAt" from attempt join delivery on delivery.id = attempt.delivery_id
      where endpoint_id = ${id} order by started_at`
    return rows.length >= count && rows.map(({ startedAt }) => startedAt.getTime())
  })

/** What a clock that follows the database's may be off by, in milliseconds. */
const CLOCK = 100
const leastTimeOf = (starts: readonly number[], perSecond: number) =>
  Math.min(...starts.slice(perSecond).map((at, index) => at - (starts[index] ?? 0)))

test.each([429, 503])(
  'Retry-After of a %i holds what waits for the endpoint, and no other; its own schedule stays (OP-105)',
  async (status) => {
    const replica = await startReplica()
    const caller = aCaller()
    const [busy, beside] = [`/busy/${status}`, `/beside/${status}`]
    const endpoint = await anEndpoint(busy, caller)
    receiver.answerWith((response, { path }) =>
      response.writeHead(path === busy ? status : 204, { 'Retry-After': '60' }).end(),
    )
    await replica.publish(anEvent(caller))
    const delivery = await eventually('the attempt is recorded', async () => {
      const [found] = await deliveriesOf(caller, endpoint)
      return found?.attempts_made === 1 && found
    })
    const delay = new Date(delivery.next_attempt_at ?? '').getTime() - Date.now()
    expect(delay).toBeGreaterThan(0)
    expect(delay).toBeLessThanOrEqual(1.1 * MINUTE + 5000)
    await anEndpoint(beside, caller)
    await replica.publish(...events(caller, 5))
    await arrivalAt(beside, 5)
    // What is due for the endpoint is held in memory or in the table.
    await send(caller, 'POST', `/v1/webhooks/${endpoint.id}/ping`)
    await replica.publish(...events(caller, 5))
    await arrivalAt(beside, 10)
    expect(receivedAt(busy)).toHaveLength(1)
    await replica.stop()
  },
)

test('once the time is over all is sent, in its order', async () => {
  const replica = await startReplica()
  const caller = aCaller()
  const endpoint = await anEndpoint('/again', caller)
  let answeredAt = 0
  const arrivals: number[] = []
  receiver.answerWith((response, { path }) => {
    if (path !== '/again') return response.writeHead(204).end()
    arrivals.push(performance.now())
    if (arrivals.length > 1) return response.writeHead(204).end()
    answeredAt = performance.now()
    response.writeHead(429, { 'Retry-After': '2' }).end()
  })
  await replica.publish(anEvent(caller))
  await eventually('it is recorded', async () => (await deliveriesOf(caller, endpoint))[0]?.attempts_made === 1)
  const about = events(caller, 4).map((event) => ({ ...event, data: { id: 'one thing' } }))
  await replica.publish(...about)
  await arrivalAt('/again', 5)
  expect(arrivals[1] ?? 0).toBeGreaterThanOrEqual(answeredAt + 1990)
  const ids = receivedAt('/again').map(({ headers }) => headers['webhook-id'])
  expect(ids.slice(1)).toEqual(about.map(({ id }) => id))
  await replica.stop()
})

test('requests per second: no more begin within any second, pings and resends among them (OP-257)', async () => {
  receiver.answerWith((response) => response.writeHead(204).end())
  const replica = await startReplica()
  const caller = aCaller()
  const endpoint = await anEndpoint('/limited', caller, 5)
  await replica.publish(...events(caller, 12))
  for (let ping = 0; ping < 4; ping++) await send(caller, 'POST', `/v1/webhooks/${endpoint.id}/ping`)
  await arrivalAt('/limited', 1)
  const first = await eventually('one is delivered', async () =>
    (await deliveriesOf(caller, endpoint)).find(({ status }) => status === 'DELIVERED'),
  )
  await send(caller, 'POST', `/v1/webhooks/${endpoint.id}/deliveries/${first.id}/resend`)
  await arrivalAt('/limited', 17)
  const starts = await startsOf(endpoint, 17)
  expect(starts).toHaveLength(17)
  expect(leastTimeOf(starts, 5)).toBeGreaterThanOrEqual(1000 - CLOCK)
  await replica.stop()
})

test('requests per second are kept when the endpoint goes from process to process, however these end (OP-257)', async () => {
  receiver.answerWith((response) => response.writeHead(204).end())
  const caller = aCaller()
  const endpoint = await anEndpoint('/moving', caller, 10)
  const [one, two] = [await startReplica(), await startReplica()]
  await one.publish(...events(caller, 60))
  await arrivalAt('/moving', 12)
  await one.stop()
  await arrivalAt('/moving', 25)
  await admin`
    select pg_terminate_backend(pid) from pg_stat_activity
    where application_name = 'webhook-delivery shards' and datname = current_database()`
  const three = await startReplica()
  await arrivalAt('/moving', 40)
  await two.stop()
  await arrivalAt('/moving', 60)
  const starts = await startsOf(endpoint, 60)
  expect(leastTimeOf(starts, 10)).toBeGreaterThanOrEqual(1000 - CLOCK)
  await three.stop()
})

test('requests per second are kept when a request is under way while the endpoint goes to another process (OP-257)', async () => {
  const held: (() => void)[] = []
  receiver.answerWith((response) => void held.push(() => response.writeHead(204).end()))
  const caller = aCaller()
  const endpoint = await anEndpoint('/handed-over', caller, 1)
  // It does not abort the request before the shard is handed over.
  const one = await startReplica({ stopWithinMs: MINUTE })
  await one.publish(...events(caller, 3))
  await arrivalAt('/handed-over', 1)
  const two = await startReplica()
  const stopped = one.stop()
  await eventually('it is marked', async () => {
    const marked = await admin`select from delivery where endpoint_id = ${endpoint.id} and busy_until is not null`
    return marked.length > 0
  })
  receiver.answerWith((response) => response.writeHead(204).end())
  for (const answer of held) answer()
  await stopped
  await arrivalAt('/handed-over', 3)
  const starts = await startsOf(endpoint, 3)
  expect(starts).toHaveLength(3)
  expect(leastTimeOf(starts, 1)).toBeGreaterThanOrEqual(1000 - CLOCK)
  await two.stop()
})

test('a limit that is set while much waits holds within two seconds, and others go on (OP-257)', async () => {
  const held: (() => void)[] = []
  receiver.answerWith((response, { path }) => {
    const answer = () => response.writeHead(204).end()
    if (path === '/slowed') held.push(answer)
    else answer()
  })
  const replica = await startReplica()
  const caller = aCaller()
  const endpoint = await anEndpoint('/slowed', caller)
  await anEndpoint('/free', caller)
  await replica.publish(...events(caller, 50))
  await arrivalAt('/free', 50)
  await arrivalAt('/slowed', 1)
  await send(caller, 'POST', `/v1/webhooks/${endpoint.id}/limits`, { requests_per_second: 1 })
  const [{ at }] = await admin<[{ at: Date }]>`select clock_timestamp() as at`
  receiver.answerWith((response) => response.writeHead(204).end())
  for (const answer of held.splice(0)) answer()
  const inForce = (starts: readonly number[]) => starts.filter((start) => start > at.getTime() + 2000 + CLOCK)
  const starts = await eventually('some begin under the limit', async () => {
    const found = await startsOf(endpoint, 1)
    return inForce(found).length >= 3 && found
  })
  expect(starts.length).toBeLessThan(50)
  expect(leastTimeOf(inForce(starts), 1)).toBeGreaterThanOrEqual(1000 - CLOCK)
  await replica.stop()
})

/** Lets some events' second attempts to all endpoints at a path be due. */
const dueRetries = (path: string, count: number) => admin`
  with owner as (select id as endpoint_id, workspace_id from endpoint where url like ${`%${path}`}), stored as (
    insert into event (workspace_id, id, type, key, body, occurred_at)
    select workspace_id, uuidv7(), 'product.created', n::text, '{}', now()
    from (select distinct workspace_id from owner) as workspace cross join generate_series(1, ${count}::integer) as n
    returning id, workspace_id
  )
  insert into delivery
    (workspace_id, endpoint_id, id, event_id, event_type, attempts_made, next_attempt_at, created_at)
  select workspace_id, endpoint_id, uuidv7(), stored.id, 'product.created', 1, now(), now()
  from stored join owner using (workspace_id)`

test('hundreds of endpoints that ask for pauses leave memory to the retries of others (OP-105)', async () => {
  receiver.answerWith((response, { path }) =>
    response.writeHead(path === '/pauses' ? 429 : 204, { 'Retry-After': '60' }).end(),
  )
  const callers = Array.from({ length: 40 }, () => aCaller())
  for (let endpoint = 0; endpoint < 5; endpoint++)
    await Promise.all(callers.map((caller) => anEndpoint('/pauses', caller)))
  await anEndpoint('/retried', aCaller())
  await dueRetries('/pauses', 60)
  const replica = await startReplica()
  await eventually('each has asked for a pause', async () => {
    const [row] = await admin`
      select count(distinct endpoint_id)::integer as endpoints from delivery join endpoint on endpoint.id = endpoint_id
      where url like '%/pauses' and attempts_made = 2`
    return row?.endpoints === 200
  })
  // It has time to read what waits for them.
  await pause(2000)
  await dueRetries('/retried', 10)
  await arrivalAt('/retried', 10)
  await replica.stop()
})
