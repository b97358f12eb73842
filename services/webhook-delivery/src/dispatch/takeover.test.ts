import type { ServerResponse } from 'node:http'
import { aCaller } from '@backoffice/testing/caller.ts'
import { eventually } from '@backoffice/testing/eventually.ts'
import { startReceiver } from '@backoffice/testing/receiver.ts'
import { expect, test } from 'vitest'
import { anEvent, webhookDelivery } from '../testing/webhooks-api.ts'

const { admin, createEndpointAt, deliveriesOf, startReplica } = await webhookDelivery()
const receiver = await startReceiver()
const ok = () => receiver.answerWith((response) => response.writeHead(204).end())

const receivedAt = (path: string) => receiver.requests.filter((request) => request.path === path)
const arrivalAt = (path: string, count: number) =>
  eventually(`${count} requests at ${path}`, () => receivedAt(path).length >= count)

/** An endpoint with one event in flight to it, which `answer` lets end. */
async function inFlight(replica: Awaited<ReturnType<typeof startReplica>>, path: string) {
  const caller = aCaller()
  const endpoint = await createEndpointAt(caller, `${receiver.url}${path}`)
  const held: ServerResponse[] = []
  receiver.answerWith((response) => void held.push(response))
  await replica.publish(anEvent(caller))
  await arrivalAt(path, 1)
  const answer = () => {
    for (const response of held) response.writeHead(204).end()
  }
  return { caller, endpoint, answer }
}

/** A delivery that a claimer has, or nobody, and that no process knows of. */
async function claimed(path: string, by: number | null, leaseSeconds: number | null) {
  const caller = aCaller()
  const endpoint = await createEndpointAt(caller, `${receiver.url}${path}`)
  const { workspaceId } = caller
  await admin`
    insert into event (workspace_id, id, type, key, body, occurred_at)
    values (${workspaceId}, ${endpoint.id}, 'product.created', 'key', '{}', now())`
  await admin`
    insert into delivery (
      workspace_id, endpoint_id, id, event_id, event_type, created_at, next_attempt_at, claimed_by, lease_until
    )
    values (${workspaceId}, ${endpoint.id}, ${endpoint.id}, ${endpoint.id}, 'product.created', now(), now(), ${by},
      now() + make_interval(secs => ${leaseSeconds}))`
}

/** Breaks the connections that hold claimers' locks. */
const loseLock = () => admin`
  select pg_terminate_backend(pid) from pg_stat_activity
  where application_name = 'webhook-delivery claimer' and datname = current_database()`

const NOBODY_ALIVE = 1_000_000

test('what a dead claimer held is taken over within seconds, long before its lease ends', async () => {
  const replica = await startReplica()
  ok()
  await claimed('/dead', NOBODY_ALIVE, 3600)
  await arrivalAt('/dead', 1)
  await replica.stop()
})

/** Deliveries to so many endpoints, each due in an hour, as after a partner's outage. */
async function waitingForLater(endpoints: number) {
  const { workspaceId } = aCaller()
  await admin`
    with stored as (
      insert into event (workspace_id, id, type, key, body, occurred_at)
      values (${workspaceId}, uuidv7(), 'product.created', 'key', '{}', now()) returning id
    )
    insert into delivery (
      workspace_id, endpoint_id, id, event_id, event_type, attempts_made, next_attempt_at, created_at
    )
    select ${workspaceId}, uuidv7(), uuidv7(), id, 'product.created', 1, now() + interval '1 hour', now()
    from stored, generate_series(1, ${endpoints})`
  return { remove: () => admin`delete from delivery where workspace_id = ${workspaceId}` }
}

test('what dead and stopped claimers held is taken over as soon while 20,000 endpoints wait for later, and so is a start', async () => {
  const later = await waitingForLater(20_000)
  // A claimer that looked through all waiting deliveries needed a minute for it.
  const withinMs = 45_000
  const startedAt = performance.now()
  const [stopped, other] = await Promise.all([startReplica(), startReplica()])
  const { caller } = await inFlight(stopped, '/stopped')
  await stopped.publish(...Array.from({ length: 5 }, () => anEvent(caller)))
  // As those that have been due for long.
  await admin`update delivery set next_attempt_at = now() - interval '1 hour' where workspace_id = ${caller.workspaceId}`
  await arrivalAt('/stopped', 2)
  ok()
  await claimed('/dead-beside', NOBODY_ALIVE, 3600)
  await stopped.stop()
  await eventually(
    'both are taken over',
    () => receivedAt('/dead-beside').length === 1 && receivedAt('/stopped').length >= 6,
    withinMs - (performance.now() - startedAt),
  )
  await other.stop()
  await later.remove()
})

test('what a living claimer holds is left to it until the lease ends', async () => {
  const [living, other] = [await startReplica(), await startReplica()]
  ok()
  await claimed('/held', living.dispatcher.claimerId ?? 0, 3600)
  await claimed('/lapsed', living.dispatcher.claimerId ?? 0, -1)
  await claimed('/dead-too', NOBODY_ALIVE, 3600)
  await Promise.all([arrivalAt('/lapsed', 1), arrivalAt('/dead-too', 1)])
  expect(receivedAt('/held')).toHaveLength(0)
  await Promise.all([living.stop(), other.stop()])
})

/** Later than the claimer itself would set it: after five seconds a claimer gives back claims that it does not know. */
const leased = admin`lease_until = now() + interval '1 hour'`

test('a result that comes after the claim was lost changes nothing', async () => {
  const [replica, other] = [await startReplica(), await startReplica()]
  const { caller, endpoint, answer } = await inFlight(replica, '/late')
  await admin`update delivery set claimed_by = ${other.dispatcher.claimerId ?? 0}, ${leased} where endpoint_id = ${endpoint.id}`
  answer()
  ok()
  const after = aCaller()
  const later = await createEndpointAt(after, `${receiver.url}/after`)
  await replica.publish(anEvent(after))
  await eventually(
    'a later result is recorded',
    async () => (await deliveriesOf(after, later))[0]?.status === 'DELIVERED',
  )
  const [delivery] = await deliveriesOf(caller, endpoint)
  expect(delivery).toMatchObject({ status: 'PENDING', attempts_made: 0 })
  expect(await admin`select from attempt where delivery_id = ${delivery?.id ?? null}`).toHaveLength(0)
  await Promise.all([replica.stop(), other.stop()])
})

test('a process whose lock lost its connection takes the lock again and keeps its claims', async () => {
  const replica = await startReplica()
  const { caller, endpoint, answer } = await inFlight(replica, '/kept')
  const before = replica.dispatcher.claimerId
  await loseLock()
  await eventually('the lock is lost', () => replica.dispatcher.claimerId === undefined)
  await eventually('the lock is held again', () => replica.dispatcher.claimerId === before)
  answer()
  const delivery = await eventually('it is delivered', async () => {
    const [found] = await deliveriesOf(caller, endpoint)
    return found?.status === 'DELIVERED' && found
  })
  expect(delivery.attempts_made).toBe(1)
  expect(receivedAt('/kept')).toHaveLength(1)
  await replica.stop()
})

test('a process whose lock was away lets go of what was taken over meanwhile', async () => {
  const [one, other] = [await startReplica(), await startReplica()]
  const caller = aCaller()
  const endpoint = await createEndpointAt(caller, `${receiver.url}/taken`)
  const answers: (() => void)[] = []
  receiver.answerWith((response) => void answers.push(() => response.writeHead(204).end()))
  // About one thing, so that two of them wait in memory behind the first.
  const [first, ...rest] = Array.from({ length: 3 }, () => anEvent(caller, { data: { id: 'one thing' } }))
  await one.publish(...(first ? [first] : []), ...rest)
  await arrivalAt('/taken', 1)
  const late = rest.map(({ id }) => id)
  await admin`update delivery set claimed_by = ${other.dispatcher.claimerId ?? 0}, ${leased} where event_id = any(${late}::uuid[])`
  const before = one.dispatcher.claimerId
  await loseLock()
  await eventually('the lock is lost', () => one.dispatcher.claimerId === undefined)
  await eventually('the lock is held again', () => one.dispatcher.claimerId === before)
  for (const answer of answers) answer()
  ok()
  await one.publish(anEvent(caller))
  await eventually('the first and the last are delivered', async () => {
    const delivered = (await deliveriesOf(caller, endpoint)).filter(({ status }) => status === 'DELIVERED')
    return delivered.length === 2
  })
  expect(receivedAt('/taken')).toHaveLength(2)
  await Promise.all([one.stop(), other.stop()])
})

test('events that come while there is no lock wait in the table and are sent once there is', async () => {
  const replica = await startReplica()
  ok()
  const caller = aCaller()
  await createEndpointAt(caller, `${receiver.url}/lockless`)
  await loseLock()
  await eventually('the lock is lost', () => replica.dispatcher.claimerId === undefined)
  await replica.publish(anEvent(caller))
  await arrivalAt('/lockless', 1)
  await replica.stop()
})

test('an event does not overtake one that is left to the table while it is written itself (OP-74)', async () => {
  let now = Date.now()
  const replica = await startReplica({ clock: () => new Date(now) })
  ok()
  const [caller, other] = [aCaller(), aCaller()]
  const endpoint = await createEndpointAt(caller, `${receiver.url}/follows`)
  await createEndpointAt(other, `${receiver.url}/fence`)
  const [isLocked, release] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
  const locked = admin.begin(async (tx) => {
    await tx`lock table delivery in share mode`
    isLocked.resolve()
    await release.promise
  })
  await isLocked.promise
  const published = replica.publish(anEvent(caller))
  await eventually('the event is about to be written', async () => {
    const waiting = await admin`select from pg_locks where relation = 'delivery'::regclass and not granted`
    return waiting.length > 0
  })
  // By this clock nothing in the table is due any more, so what is sent is sent from memory.
  now = 0
  replica.dispatcher.noteWaiting([endpoint.id], new Date(Date.now() + 3_600_000))
  release.resolve()
  await Promise.all([locked, published])
  await eventually('it is given back', async () => {
    const [row] = await admin`select claimed_by from delivery where endpoint_id = ${endpoint.id}`
    return row?.claimed_by === null
  })
  await replica.publish(anEvent(other))
  await arrivalAt('/fence', 1)
  expect(receivedAt('/follows')).toHaveLength(0)
  await replica.stop()
})

test('what waits too long in memory is given back before its lease ends, for another replica to claim', async () => {
  const replica = await startReplica({ maxWaitMs: 0 })
  const { caller, endpoint } = await inFlight(replica, '/patient')
  await replica.publish(...Array.from({ length: 20 }, () => anEvent(caller)))
  await arrivalAt('/patient', 2)
  await eventually('only what is in flight is claimed', async () => {
    const claims = await admin`select from delivery where endpoint_id = ${endpoint.id} and claimed_by is not null`
    return claims.length === 2
  })
  await replica.stop()
})

test('stopping lets an attempt in flight end and records it', async () => {
  const replica = await startReplica({ stopWithinMs: 10_000 })
  const { caller, endpoint, answer } = await inFlight(replica, '/stopping')
  const stopped = replica.stop()
  ok()
  answer()
  await stopped
  expect((await deliveriesOf(caller, endpoint))[0]).toMatchObject({ status: 'DELIVERED', attempts_made: 1 })
})

test('what is still in flight when stopping takes too long is free for others, and so is what waits', async () => {
  const replica = await startReplica({ stopWithinMs: 1050 })
  const { caller, endpoint } = await inFlight(replica, '/given-back')
  await replica.publish(...Array.from({ length: 20 }, () => anEvent(caller)))
  await replica.stop()
  const rows = await admin`
    select status, attempts_made, coalesce(lease_until < clock_timestamp(), true) as is_free
    from delivery where endpoint_id = ${endpoint.id}`
  expect(rows).toHaveLength(21)
  for (const row of rows) expect(row).toEqual({ status: 'PENDING', attempts_made: 0, is_free: true })
})

test('two replicas share what waits and send each of it once', async () => {
  const caller = aCaller()
  const paused = await startReplica({ schedule: [100] })
  ok()
  for (let index = 0; index < 20; index++) await createEndpointAt(caller, `${receiver.url}/shared`)
  const events = Array.from({ length: 50 }, () => anEvent(caller))
  const other = await startReplica()
  await paused.publish(...events)
  await arrivalAt('/shared', 1000)
  await eventually('all are recorded', async () => {
    const [pending] = await admin<[{ count: string }]>`
      select count(*) from delivery where workspace_id = ${caller.workspaceId} and status = 'PENDING'`
    return pending.count === '0'
  })
  expect(receivedAt('/shared')).toHaveLength(1000)
  await Promise.all([paused.stop(), other.stop()])
})
