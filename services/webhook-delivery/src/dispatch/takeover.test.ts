import type { ServerResponse } from 'node:http'
import { setTimeout as pause } from 'node:timers/promises'
import { openDatabase } from '@backoffice/postgres/database.ts'
import { PLAN_ONCE_BY_KEYS } from '@backoffice/postgres/plan-settings.ts'
import { aCaller, type Caller } from '@backoffice/testing/caller.ts'
import { eventually } from '@backoffice/testing/eventually.ts'
import { startReceiver } from '@backoffice/testing/receiver.ts'
import { whenDone } from '@backoffice/testing/when-done.ts'
import { expect, test } from 'vitest'
import { SHARDS } from '../shards/shard-of.ts'
import { anEvent, webhookDelivery } from '../testing/webhooks-api.ts'

const { admin, workerUrl, send, createEndpointAt, deliveriesOf, startReplica } = await webhookDelivery()
const receiver = await startReceiver()
const ok = () => receiver.answerWith((response) => response.writeHead(204).end())

type Replica = Awaited<ReturnType<typeof startReplica>>
type Endpoint = Awaited<ReturnType<typeof createEndpointAt>>

const receivedAt = (path: string) => receiver.requests.filter((request) => request.path === path)
const idsAt = (path: string) => receivedAt(path).map(({ headers }) => headers['webhook-id'])
const arrivalAt = (path: string, count: number) =>
  eventually(`${count} requests at ${path}`, () => receivedAt(path).length >= count)

/** Answers to what came while they were held. */
function holdAnswers() {
  const held: ServerResponse[] = []
  receiver.answerWith((response) => void held.push(response))
  return (status = 204) => {
    for (const response of held.splice(0)) response.writeHead(status).end()
  }
}

/** An id in each shard. */
const IN_SHARDS = Array.from({ length: SHARDS }, (_, shard) => shard.toString(16).padStart(2, '0'))
const ownOf = ({ dispatcher }: Replica) => IN_SHARDS.filter((id) => dispatcher.owns(id)).length

/** What each session holds by advisory locks, for a failure that is hard to explain. */
const sessionsWithLocks = () => admin`
  select activity.pid, state, left(query, 80) as query, clock_timestamp() - state_change as since,
    array_agg(distinct classid::integer) as locks, count(*)::integer as held
  from pg_locks join pg_stat_activity as activity using (pid)
  where locktype = 'advisory' and datname = current_database() group by 1, 2, 3, 4`

async function ownHalf(...replicas: readonly Replica[]) {
  await eventually('each owns half', () => replicas.every((one) => ownOf(one) === SHARDS / 2)).catch(
    async (error: Error) => {
      throw new Error(`${error.message}: ${replicas.map(ownOf)}, ${JSON.stringify(await sessionsWithLocks())}`)
    },
  )
}

/** Two replicas that share the shards, and an endpoint at a path that the first of them owns. */
async function sharing(path: string, options = {}) {
  const [owner, other] = [await startReplica({ stopWithinMs: 20_000, ...options }), await startReplica()]
  await ownHalf(owner, other)
  const caller = aCaller()
  // Ids are random: all of a dozen endpoints are the other's once in some thousand times.
  const create = () => createEndpointAt(caller, `${receiver.url}${path}`, ['tag.deleted'])
  let endpoint = await create()
  while (!owner.dispatcher.owns(endpoint.id)) endpoint = await create()
  await send(caller, 'PUT', `/v1/webhooks/${endpoint.id}`, { enabled_events: ['product.created'] })
  return { owner, other, caller, endpoint, stop: () => Promise.all([owner.stop(), other.stop()]) }
}

/** An endpoint with one event in flight to it. */
async function inFlight(replica: Replica, path: string) {
  const caller = aCaller()
  const endpoint = await createEndpointAt(caller, `${receiver.url}${path}`)
  const answer = holdAnswers()
  await replica.publish(anEvent(caller))
  await arrivalAt(path, 1)
  return { caller, endpoint, answer }
}

const about = (id: string) => ({ data: { id } })
const delivered = (caller: Caller, endpoint: Endpoint, count: number) =>
  eventually(`${count} are delivered`, async () => {
    const deliveries = await deliveriesOf(caller, endpoint)
    return deliveries.filter(({ status }) => status === 'DELIVERED').length === count && deliveries
  })

/** Breaks the sessions that own shards. */
async function loseShards() {
  const sessions = async () => {
    const rows = await admin<{ pid: number }[]>`
      select pid from pg_stat_activity
      where application_name = 'webhook-delivery shards' and datname = current_database()`
    return rows.map(({ pid }) => pid)
  }
  const before = await sessions()
  await admin`select pg_terminate_backend(pid) from unnest(${before}::integer[]) as pid`
  await eventually('their sessions are gone', async () => !(await sessions()).some((pid) => before.includes(pid)))
}

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

test('what waits for a stopped process is taken over as soon while 5,000 endpoints wait for later', async () => {
  const later = await waitingForLater(5000)
  // A process that looked through all waiting deliveries needed a minute for 20,000.
  const withinMs = 45_000
  const startedAt = performance.now()
  const { owner: stopped, other, caller } = await sharing('/stopped', { stopWithinMs: 1100 })
  const answer = holdAnswers()
  await stopped.publish(anEvent(caller))
  await arrivalAt('/stopped', 1)
  await stopped.publish(...Array.from({ length: 5 }, () => anEvent(caller)))
  // As those that have been due for long.
  await admin`update delivery set next_attempt_at = now() - interval '1 hour' where workspace_id = ${caller.workspaceId}`
  await arrivalAt('/stopped', 2)
  ok()
  await stopped.stop()
  answer()
  await eventually(
    'all are taken over',
    () => new Set(idsAt('/stopped')).size === 6,
    withinMs - (performance.now() - startedAt),
  )
  await other.stop()
  await later.remove()
})

test('an attempt that is in flight when its shard is handed over holds up its key only, counts towards the limit, and its result counts', async () => {
  const { owner, other, caller, endpoint, stop } = await sharing('/handed-over')
  const answer = holdAnswers()
  const [first, behind, beside, last] = ['one', 'one', 'two', 'three'].map((id) => anEvent(caller, about(id)))
  const idsOf = (...events: (typeof first)[]) => events.map((event) => event?.id)
  await owner.publish(...[first].filter((event) => event !== undefined))
  await arrivalAt('/handed-over', 1)
  const stopped = owner.stop()
  await eventually('the other owns the endpoint', () => other.dispatcher.owns(endpoint.id))
  await other.publish(...[behind, beside, last].filter((event) => event !== undefined))
  const fence = aCaller()
  await createEndpointAt(fence, `${receiver.url}/beside`)
  await other.publish(anEvent(fence))
  await arrivalAt('/beside', 1)
  // Two may be in flight to an endpoint that nothing is known of, and one once it has not answered for a second: one of
  // them is the former owner's.
  const [, second, ...more] = idsAt('/handed-over')
  expect(more).toEqual([])
  expect([undefined, ...idsOf(beside, last)]).toContain(second)
  ok()
  answer()
  await stopped
  const deliveries = await delivered(caller, endpoint, 4)
  expect(deliveries.map(({ attempts_made }) => attempts_made)).toEqual([1, 1, 1, 1])
  expect(idsAt('/handed-over')).toHaveLength(4)
  expect(idsAt('/handed-over').toSorted()).toEqual(idsOf(first, behind, beside, last).toSorted())
  await stop()
})

test('a failure that the former owner records is tried again by the next one, on its schedule', async () => {
  const { owner, other, caller, endpoint, stop } = await sharing('/failing')
  const answer = holdAnswers()
  await owner.publish(anEvent(caller))
  await arrivalAt('/failing', 1)
  const stopped = owner.stop()
  await eventually('the other owns the endpoint', () => other.dispatcher.owns(endpoint.id))
  answer(500)
  await stopped
  const [delivery] = await deliveriesOf(caller, endpoint)
  expect(delivery).toMatchObject({ status: 'PENDING', attempts_made: 1 })
  ok()
  await admin`update delivery set next_attempt_at = now() where endpoint_id = ${endpoint.id}`
  expect((await delivered(caller, endpoint, 1))[0]?.attempts_made).toBe(2)
  await stop()
})

test('first attempts about one thing keep their order while their endpoints go from process to process (OP-74)', async () => {
  const caller = aCaller()
  const paths = Array.from({ length: 8 }, (_, index) => `/moving/${index}`)
  for (const path of paths) await createEndpointAt(caller, `${receiver.url}${path}`)
  const underWay = new Set<string>()
  let overlapped = 0
  receiver.answerWith((response, { path, body }) => {
    const thing = `${path} ${JSON.parse(body.toString()).data.id}`
    if (underWay.has(thing)) overlapped++
    underWay.add(thing)
    setTimeout(() => {
      underWay.delete(thing)
      response.writeHead(204).end()
    }, 20)
  })
  const staying = await startReplica()
  const events = Array.from({ length: 120 }, (_, number) =>
    anEvent(caller, { data: { id: `thing ${number % 3}`, number } }),
  )
  for (let round = 0; round < 3; round++) {
    const passing = await startReplica({ stopWithinMs: 20_000 })
    for (const [index, event] of events.slice(round * 40, round * 40 + 40).entries())
      await (index % 2 === 0 ? staying : passing).publish(event)
    await passing.stop()
  }
  await eventually('all have arrived', () => paths.every((path) => receivedAt(path).length >= events.length))
  for (const path of paths) {
    const received = receivedAt(path).map(({ body }) => JSON.parse(body.toString()).data)
    for (const own of Map.groupBy(received, ({ id }) => id).values()) {
      const numbers = own.map(({ number }) => number)
      expect(numbers).toEqual(numbers.toSorted((a, b) => a - b))
    }
    expect(received).toHaveLength(events.length)
  }
  expect(overlapped).toBe(0)
  await staying.stop()
})

test('a result that comes after another process has recorded one changes nothing', async () => {
  const replica = await startReplica()
  const { caller, endpoint, answer } = await inFlight(replica, '/late')
  await admin`
    update delivery set attempts_made = 1, next_attempt_at = now() + interval '1 hour' where endpoint_id = ${endpoint.id}`
  ok()
  answer()
  const after = aCaller()
  const later = await createEndpointAt(after, `${receiver.url}/after`)
  await replica.publish(anEvent(after))
  await delivered(after, later, 1)
  const [delivery] = await deliveriesOf(caller, endpoint)
  expect(delivery).toMatchObject({ status: 'PENDING', attempts_made: 1 })
  expect(await admin`select from attempt where delivery_id = ${delivery?.id ?? null}`).toHaveLength(0)
  await replica.stop()
})

test('a process whose session broke takes its shards again, and what it had in flight is sent once', async () => {
  const replica = await startReplica()
  const { caller, endpoint, answer } = await inFlight(replica, '/kept')
  const behind = anEvent(caller)
  await loseShards()
  await eventually('they are its own again', () => replica.dispatcher.owns(endpoint.id))
  await replica.publish(behind)
  ok()
  answer()
  const deliveries = await delivered(caller, endpoint, 2)
  expect(deliveries.map(({ attempts_made }) => attempts_made)).toEqual([1, 1])
  expect(receivedAt('/kept')).toHaveLength(2)
  await replica.stop()
})

test('a process that lost its shards sends nothing of what waited in its memory: the next owner sends it, in its order', async () => {
  const { owner, other, caller, endpoint, stop } = await sharing('/lost')
  const answer = holdAnswers()
  // About one thing, so that all but the first wait in memory.
  const events = Array.from({ length: 4 }, () => anEvent(caller, about('one thing')))
  await owner.publish(...events)
  await arrivalAt('/lost', 1)
  await loseShards()
  ok()
  answer()
  await delivered(caller, endpoint, 4)
  const ids = idsAt('/lost')
  // What was in flight may have come twice.
  const [first, ...others] = events.map(({ id }) => id)
  expect(ids.filter((id) => id !== first)).toEqual(others)
  expect(ids.lastIndexOf(first)).toBeLessThan(ids.indexOf(others[0]))
  await eventually('one owns it', () => other.dispatcher.owns(endpoint.id) || owner.dispatcher.owns(endpoint.id))
  await stop()
})

test('events that come while nobody owns their endpoint wait in the table and are sent once somebody does', async () => {
  const replica = await startReplica()
  ok()
  const caller = aCaller()
  await createEndpointAt(caller, `${receiver.url}/ownerless`)
  await loseShards()
  await replica.publish(anEvent(caller))
  await arrivalAt('/ownerless', 1)
  await replica.stop()
})

test('an event does not overtake one that another process has written, nor one that is left to the table (OP-74)', async () => {
  const { owner, other, caller, stop } = await sharing('/follows')
  ok()
  const events = Array.from({ length: 60 }, () => anEvent(caller, about('one thing')))
  for (const [index, event] of events.entries()) await (index % 3 === 0 ? other : owner).publish(event)
  await arrivalAt('/follows', events.length)
  expect(idsAt('/follows')).toEqual(events.map(({ id }) => id))
  await stop()
})

/** Connects as the worker role; looks at the table get no answer until `letLook` is called. */
function withoutLooks() {
  const { sql, stop } = openDatabase({ url: workerUrl, applicationName: 'worker', settings: PLAN_ONCE_BY_KEYS })
  const { promise, resolve } = Promise.withResolvers<void>()
  let looks = 0
  const isLook = (text: unknown) => Array.isArray(text) && /min\(due_at\)|recursive ready/.test(text.join(''))
  return {
    letLook: resolve,
    end: stop,
    looks: () => looks,
    sql: new Proxy(sql, {
      apply(target, self, [text, ...values]) {
        const ask = () => Reflect.apply(target, self, [text, ...values])
        if (!isLook(text)) return ask()
        looks++
        return promise.then(ask)
      },
    }),
  }
}

test('what another process makes due is sent at once, without a look at the table: an event, a ping and a resend', async () => {
  const { sql, letLook, looks, end } = withoutLooks()
  const { owner, other, caller, endpoint, stop } = await sharing('/told', { sql })
  ok()
  const path = `/v1/webhooks/${endpoint.id}`
  await other.publish(anEvent(caller))
  const [delivery] = await delivered(caller, endpoint, 1)
  expect((await send(caller, 'POST', `${path}/ping`)).status).toBe(202)
  await arrivalAt('/told', 2)
  expect((await send(caller, 'POST', `${path}/deliveries/${delivery?.id}/resend`)).status).toBe(202)
  await arrivalAt('/told', 3)
  expect(owner.dispatcher.owns(endpoint.id)).toBe(true)
  expect(looks()).toBeGreaterThan(0)
  const stopped = stop()
  letLook()
  await stopped
  await end?.()
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
    select status, attempts_made, coalesce(busy_until <= clock_timestamp(), true) as is_free
    from delivery where endpoint_id = ${endpoint.id}`
  expect(rows).toHaveLength(21)
  for (const row of rows) expect(row).toEqual({ status: 'PENDING', attempts_made: 0, is_free: true })
  const next = await startReplica()
  ok()
  await delivered(caller, endpoint, 21)
  await next.stop()
})

/** Connects as the worker role; marks of attempts that go on elsewhere end only after a stop has aborted these. */
function withSlowMarks() {
  const { sql, stop } = openDatabase({ url: workerUrl, applicationName: 'worker', settings: PLAN_ONCE_BY_KEYS })
  whenDone(() => stop?.())
  return new Proxy(sql, {
    apply(target, self, [text, ...values]) {
      const ask = () => Reflect.apply(target, self, [text, ...values])
      const isMark = Array.isArray(text) && /set busy_until/.test(text.join('')) && values[0] !== 0
      return isMark ? pause(800).then(ask) : ask()
    },
  })
}

test('what is given up while its shard is handed over is free, too', async () => {
  const replica = await startReplica({ stopWithinMs: 1500, sql: withSlowMarks() })
  const { endpoint } = await inFlight(replica, '/given-up')
  await replica.stop()
  const [row] = await admin`
    select attempts_made, busy_until <= clock_timestamp() as is_free from delivery where endpoint_id = ${endpoint.id}`
  expect(row).toEqual({ attempts_made: 0, is_free: true })
})

test('two replicas share what waits and send each of it once', async () => {
  const caller = aCaller()
  const [one, other] = [await startReplica(), await startReplica()]
  ok()
  for (let index = 0; index < 20; index++) await createEndpointAt(caller, `${receiver.url}/shared`)
  await ownHalf(one, other)
  const events = Array.from({ length: 50 }, () => anEvent(caller))
  await one.publish(...events)
  await arrivalAt('/shared', 1000)
  await eventually('all are recorded', async () => {
    const [pending] = await admin<[{ count: string }]>`
      select count(*) from delivery where workspace_id = ${caller.workspaceId} and status = 'PENDING'`
    return pending.count === '0'
  })
  expect(receivedAt('/shared')).toHaveLength(1000)
  await Promise.all([one.stop(), other.stop()])
})
