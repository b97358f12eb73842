import { randomUUIDv7 } from 'node:crypto'
import { aCaller } from '@backoffice/testing/caller.ts'
import { beforeAll, describe, expect, test } from 'vitest'
import { countedReads } from '../testing/rows-read.ts'
import { webhookDelivery } from '../testing/webhooks-api.ts'
import { readDue, type Wanted } from './read-due.ts'

const { admin, workerUrl, createEndpointAt } = await webhookDelivery()
const { sql, rowsRead, rowsSeen } = countedReads(workerUrl)
const BYTES = 1_000_000
const MINUTE = 60_000

interface Written {
  readonly attemptsMade?: number
  readonly dueInMs?: number
  readonly body?: string
}

/** An endpoint with these deliveries, first ones first; each is of an event of its own. */
async function anEndpoint(...deliveries: readonly Written[]) {
  const caller = aCaller()
  const { workspaceId } = caller
  const endpoint = await createEndpointAt(caller, 'https://example.com')
  const ids: string[] = []
  for (const { attemptsMade = 0, dueInMs = 0, body = '{}' } of deliveries) {
    const eventId = randomUUIDv7()
    const [row] = await admin<[{ id: string }]>`
      with stored as (
        insert into event (workspace_id, id, type, key, body, occurred_at)
        values (${workspaceId}, ${eventId}, 'product.created', ${eventId}, ${body}, now())
      ), planned as (select uuidv7() as id)
      insert into delivery (workspace_id, endpoint_id, id, event_id, event_type, attempts_made, next_attempt_at, created_at)
      select ${workspaceId}, ${endpoint.id}, id, ${eventId}, 'product.created', ${attemptsMade},
        uuid_extract_timestamp(id) + ${dueInMs}::integer * interval '1 millisecond', now()
      from planned returning id`
    ids.push(row.id)
  }
  return { caller, endpointId: endpoint.id, ids }
}

const wanted = (endpointId: string, differences: Partial<Wanted> = {}): Wanted => ({
  endpointId,
  after: undefined,
  firstAttempts: 100,
  repeats: 100,
  ...differences,
})
const soon = () => new Date(Date.now() + 1000)
const read = async (...each: readonly Wanted[]) => {
  const { deliveries, isCut } = await readDue(sql, each, soon(), BYTES)
  return { ids: deliveries.map(({ id }) => id), deliveries, isCut }
}

test('first attempts are read in the order of their ids, up to the wanted number, from the cursor on', async () => {
  const { endpointId, ids } = await anEndpoint(...Array(10).fill({}))
  expect((await read(wanted(endpointId))).ids).toEqual(ids)
  expect((await read(wanted(endpointId, { firstAttempts: 4 }))).ids).toEqual(ids.slice(0, 4))
  expect((await read(wanted(endpointId, { after: ids[3] as string, firstAttempts: 4 }))).ids).toEqual(ids.slice(4, 8))
  expect((await read(wanted(endpointId, { after: ids[9] as string }))).ids).toEqual([])
  expect((await read(wanted(endpointId, { firstAttempts: 0 }))).ids).toEqual([])
})

test('what was committed is read also while the clock of the process is behind', async () => {
  const { endpointId, ids } = await anEndpoint({}, { attemptsMade: 1 }, { dueInMs: 60_000 })
  const { deliveries } = await readDue(sql, [wanted(endpointId)], new Date(Date.now() - 10_000), BYTES)
  expect(deliveries.map(({ id }) => id).toSorted()).toEqual([ids[0], ids[1]].toSorted())
  expect(deliveries.map(({ isScheduled }) => isScheduled)).toEqual([true, true])
})

test('repeats are read beside them, the one that is due longest first, whatever the cursor', async () => {
  const { endpointId, ids } = await anEndpoint(
    { attemptsMade: 1, dueInMs: -MINUTE },
    {},
    { attemptsMade: 2, dueInMs: -3 * MINUTE },
    { attemptsMade: 1, dueInMs: -2 * MINUTE },
    {},
  )
  const [late, first, oldest, middle, second] = ids as [string, string, string, string, string]
  expect((await read(wanted(endpointId, { repeats: 2 }))).ids).toEqual([oldest, middle, first, second])
  expect((await read(wanted(endpointId, { after: second, firstAttempts: 5 }))).ids).toEqual([oldest, middle, late])
})

test('what is not due yet, what is over and what a process of the version before has claimed is not read', async () => {
  const { endpointId, ids } = await anEndpoint({ dueInMs: 60_000 }, {}, {}, { attemptsMade: 1, dueInMs: 60_000 }, {})
  await admin`update delivery set status = 'DELIVERED', next_attempt_at = null where id = ${ids[1] as string}`
  await admin`update delivery set claimed_by = 7, lease_until = now() + interval '1 hour' where id = ${ids[2] as string}`
  expect((await read(wanted(endpointId))).ids).toEqual([ids[4]])
})

test('what a former owner has in flight is read, and until when', async () => {
  const { endpointId, ids } = await anEndpoint({}, {})
  await admin`update delivery set busy_until = now() + interval '1 minute' where id = ${ids[0] as string}`
  const { deliveries } = await read(wanted(endpointId))
  expect(deliveries.map(({ busyUntil }) => busyUntil === null)).toEqual([false, true])
  expect(deliveries[0]?.busyUntil?.getTime()).toBeGreaterThan(Date.now())
})

test('bodies are read until they have the bytes that there is room for, and one at least', async () => {
  const bodies = Array.from({ length: 5 }, () => ({ body: JSON.stringify('x'.repeat(998)) }))
  const { endpointId, ids } = await anEndpoint(...bodies)
  const within = async (bytes: number) => {
    const { deliveries, isCut } = await readDue(sql, [wanted(endpointId)], soon(), bytes)
    return [deliveries.map(({ id }) => id), isCut]
  }
  expect(await within(2001)).toEqual([ids.slice(0, 3), true])
  expect(await within(2000)).toEqual([ids.slice(0, 2), true])
  expect(await within(1)).toEqual([ids.slice(0, 1), true])
  expect(await within(5000)).toEqual([ids, false])
})

test('deliveries of one event share its body', async () => {
  const caller = aCaller()
  const endpointIds: string[] = []
  for (let index = 0; index < 3; index++) endpointIds.push((await createEndpointAt(caller, 'https://example.com')).id)
  await admin`
    with stored as (
      insert into event (workspace_id, id, type, key, body, occurred_at)
      values (${caller.workspaceId}, uuidv7(), 'product.created', 'key', '{"shared":1}', now()) returning id
    )
    insert into delivery (workspace_id, endpoint_id, id, event_id, event_type, next_attempt_at, created_at)
    select ${caller.workspaceId}, endpoint, uuidv7(), id, 'product.created', now(), now()
    from stored, unnest(${endpointIds}::uuid[]) as endpoint`
  const { deliveries } = await read(...endpointIds.map((id) => wanted(id)))
  expect(deliveries).toHaveLength(3)
  expect(deliveries.filter(({ body }) => body !== null)).toMatchObject([{ body: '{"shared":1}' }])
  // It counts once for the bytes of a reading.
  const all = endpointIds.map((id) => wanted(id))
  expect((await readDue(sql, all, soon(), '{"shared":1}'.length + 1)).deliveries).toHaveLength(3)
})

describe('however much waits', () => {
  const [ENDPOINTS, DELIVERIES] = [20, 500]
  const endpointIds: string[] = []

  /** Half of what waits for each endpoint are first attempts, and a tenth of the rest is due. */
  beforeAll(async () => {
    const caller = aCaller()
    for (let index = 0; index < ENDPOINTS; index++)
      endpointIds.push((await createEndpointAt(caller, 'https://example.com')).id)
    await admin`
      with stored as (
        insert into event (workspace_id, id, type, key, body, occurred_at)
        select ${caller.workspaceId}, uuidv7(), 'product.created', 'key', '{}', now()
        from generate_series(1, ${DELIVERIES}::integer) returning id
      ), planned as (
        select uuidv7() as id, stored.id as event_id, row_number() over (partition by endpoint order by stored.id) as n, endpoint
        from stored cross join unnest(${endpointIds}::uuid[]) as endpoint
      )
      insert into delivery (workspace_id, endpoint_id, id, event_id, event_type, attempts_made, next_attempt_at, created_at)
      select ${caller.workspaceId}, endpoint, id, event_id, 'product.created', n % 2, case
          when n % 2 = 0 then uuid_extract_timestamp(id)
          else now() + case when n % 20 = 1 then interval '-1 minute' else interval '1 hour' end
        end, now()
      from planned`
    await admin`analyze`
  })

  test.each([
    ['empty', async () => await admin`truncate delivery`],
    ['full of what is over', async () => await admin`update delivery set status = 'DELIVERED', next_attempt_at = null`],
    [
      'full of one endpoint',
      async () => await admin`delete from delivery where endpoint_id <> ${endpointIds[0] as string}`,
    ],
  ])('nor a reading whose plan was made when the table was %s', async (_, change) => {
    const planned = countedReads(workerUrl)
    const [endpointId, ...others] = endpointIds as [string]
    await admin`
      create table kept as
      select workspace_id, endpoint_id, id, event_id, event_type, attempts_made, next_attempt_at, created_at
      from delivery where next_attempt_at is not null`
    await change()
    await admin`analyze delivery`
    await readDue(planned.sql, [wanted(endpointId)], soon(), BYTES)
    await planned.rowsRead('delivery', 'with wanted')
    await admin`truncate delivery`
    await admin`
      insert into delivery (workspace_id, endpoint_id, id, event_id, event_type, attempts_made, next_attempt_at, created_at)
      select * from kept`
    await admin`drop table kept`
    const few = others.slice(0, 3).map((id) => wanted(id, { firstAttempts: 3, repeats: 2 }))
    expect((await readDue(planned.sql, few, soon(), BYTES)).deliveries).toHaveLength(15)
    expect(await planned.rowsRead('delivery', 'with wanted')).toBeLessThanOrEqual(15 + 3)
  })

  test('a reading reads what it returns, also from a cursor far behind', async () => {
    const some = endpointIds.slice(0, 5).map((id) => wanted(id, { firstAttempts: 3, repeats: 2 }))
    const { deliveries, ids } = await read(...some)
    expect(deliveries).toHaveLength(25)
    expect(deliveries.filter(({ attemptsMade }) => attemptsMade === 0)).toHaveLength(15)
    expect(await rowsRead('delivery', 'with wanted')).toBeLessThanOrEqual(25 + 5)
    const [endpointId] = endpointIds as [string]
    const all = await read(wanted(endpointId, { firstAttempts: DELIVERIES, repeats: 0 }))
    expect(all.ids).toHaveLength(DELIVERIES / 2)
    // Each delivery passes a number of steps, but is compared with no other.
    expect(await rowsSeen('with wanted')).toBeLessThanOrEqual(30 * all.ids.length)
    const after = all.ids.at(-4) as string
    expect((await read(wanted(endpointId, { after, firstAttempts: 2, repeats: 0 }))).ids).toEqual(all.ids.slice(-3, -1))
    expect(await rowsRead('delivery', 'with wanted')).toBeLessThanOrEqual(2 + 1)
    expect(ids.length).toBe(25)
  })
})
