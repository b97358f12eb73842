import { randomUUID } from 'node:crypto'
import { openDatabase } from '@backoffice/postgres/database.ts'
import { openLockSession } from '@backoffice/postgres/lock-session.ts'
import { whenDone } from '@backoffice/testing/when-done.ts'
import { beforeEach, expect, test } from 'vitest'
import { outboxRounds } from './outbox-rounds.ts'
import { markPublished, type OutboxRow, PLANS_BY_INDEX, waitingRows } from './outbox-rows.ts'
import { refuseRow } from './refused-rows.ts'
import type { StateThrottle } from './state-throttle.ts'
import { TRACEPARENT, testOutbox } from './testing/outbox.ts'

const outbox = await testOutbox()
const session = openLockSession({ url: outbox.workerUrl }, 'test', 30_000, PLANS_BY_INDEX)
whenDone(() => session.close())
const { admin } = outbox
const sent: { text: string; parameters: unknown[] }[] = []
const { sql, stop } = openDatabase({
  url: outbox.workerUrl,
  applicationName: 'plans',
  poolSize: 1,
  settings: PLANS_BY_INDEX,
  onStatement: (text, parameters) => sent.push({ text, parameters }),
})
whenDone(() => stop?.())

beforeEach(async () => {
  await admin`truncate outbox`
})

const EVENTS = 'catalog.events'
const STATES = 'catalog.products'
/** Workspaces in the order of their ids, in which they are served. */
const [A, B, C] = ['a', 'b', 'c'].map((letter) => `${letter}0000000-0000-4000-8000-000000000000`) as [
  string,
  string,
  string,
]

/** Rows of a workspace, with keys 1, 2, … and a payload of so many bytes, as it is stored. */
const add = (workspaceId: string, topic: string, rows: number, bytes = 300) => admin`
  insert into outbox (event_id, topic, type, key, workspace_id, livemode, payload, traceparent, occurred_at)
  select gen_random_uuid(), ${topic}, 'x', n, ${workspaceId}, true, to_json(stored.random), ${TRACEPARENT}, now()
  from generate_series(1, ${rows}::integer) as n, (
    -- Does not compress.
    select left(string_agg(md5(random()::text), ''), ${bytes}::integer) as random from generate_series(1, ${Math.ceil(bytes / 32)}::integer)
  ) as stored`

/** Reads a round, and marks it as published. Nothing waits after one that says so. */
async function publish(nextRound: ReturnType<typeof outboxRounds>): Promise<OutboxRow[]> {
  const { rows, isAll } = await nextRound()
  await markPublished(session.sql, rows)
  if (isAll) expect(await admin`select from outbox where published_at is null and refused is null`).toHaveLength(0)
  return rows
}

const workspacesOf = (rows: readonly OutboxRow[]) => [...new Set(rows.map(({ workspace_id }) => workspace_id))]
const storedBytes = (rows: readonly OutboxRow[]) => rows.reduce((sum, { bytes }) => sum + bytes, 0)

test('an event is in the first round, whatever waited before it', async () => {
  await add(A, STATES, 50_000)
  await add(B, EVENTS, 1)
  await add(C, STATES, 1)
  const { rows } = await outboxRounds(session)()
  const [first, ...others] = rows
  expect(first).toMatchObject({ workspace_id: B, topic: EVENTS })
  expect(workspacesOf(others)).toEqual([C, A])
})

test('while requests come, other records are few in a round, or as many as its events', async () => {
  await add(A, STATES, 2000)
  const nextRound = outboxRounds(session, undefined, () => true)
  expect(await publish(nextRound)).toHaveLength(80)
  await add(B, EVENTS, 200)
  const rows = await publish(nextRound)
  expect(rows.filter(({ topic }) => topic === EVENTS)).toHaveLength(200)
  expect(rows.filter(({ topic }) => topic === STATES)).toHaveLength(200)
})

test('endless events of one workspace leave room for the states of another', async () => {
  await add(A, EVENTS, 5000)
  await add(B, STATES, 1)
  const { rows } = await outboxRounds(session)()
  expect(workspacesOf(rows)).toEqual([A, B])
  expect(rows.length).toBeLessThanOrEqual(500)
})

test('one workspace alone gets whole rounds, and half of one as soon as another has as many rows', async () => {
  await add(A, STATES, 2000)
  const nextRound = outboxRounds(session)
  expect(await publish(nextRound)).toHaveLength(500)
  await add(B, STATES, 2000)
  const rows = await publish(nextRound)
  expect(rows).toHaveLength(500)
  expect(rows.filter(({ workspace_id }) => workspace_id === B)).toHaveLength(250)
})

test('a round ends after so many bytes, and the next one begins with the workspace after the last', async () => {
  const workspaces = Array.from({ length: 40 }, (_, index) => `${10 + index}000000-0000-4000-8000-000000000000`)
  for (const workspace of workspaces) await add(workspace, STATES, 3, 20_000)
  const nextRound = outboxRounds(session)
  const served: string[] = []
  for (let round = 0; round < 3; round++) {
    const rows = await publish(nextRound)
    expect(storedBytes(rows)).toBeLessThan(256 * 1024 + 20_010)
    expect(workspacesOf(rows)).toHaveLength(rows.length)
    served.push(...workspacesOf(rows))
  }
  expect(served.slice(0, 40)).toEqual(workspaces)
  expect(served[40]).toBe(workspaces[0])
})

test('more workspaces than a round looks at are all served within a few rounds', async () => {
  await admin`
    insert into outbox (event_id, topic, type, key, workspace_id, livemode, payload, traceparent, occurred_at)
    select gen_random_uuid(), ${EVENTS}, 'x', '1', gen_random_uuid(), true, '{}', ${TRACEPARENT}, now()
    from generate_series(1, 150)`
  const nextRound = outboxRounds(session)
  for (let round = 0; round < 5; round++) await publish(nextRound)
  expect(await admin`select from outbox where published_at is null`).toHaveLength(0)
})

test('rows of a megabyte come one by one, after the small rows of others', async () => {
  await add(A, STATES, 5, 1_000_000)
  await add(B, STATES, 5)
  const nextRound = outboxRounds(session)
  expect((await publish(nextRound)).map(({ workspace_id }) => workspace_id)).toEqual([A])
  expect((await publish(nextRound)).map(({ workspace_id }) => workspace_id)).toEqual([B, B, B, B, B])
})

test('a large payload that is small as it is stored counts as it is sent', async () => {
  await admin`
    insert into outbox (event_id, topic, type, key, workspace_id, livemode, payload, traceparent, occurred_at)
    select gen_random_uuid(), ${STATES}, 'x', n, ${A}, true, to_json(repeat('x', 500000)), ${TRACEPARENT}, now()
    from generate_series(1, 10) as n`
  const { rows } = await outboxRounds(session)()
  expect(storedBytes(rows)).toBeLessThan(100_000)
  expect(rows).toHaveLength(1)
  expect(await publish(outboxRounds(session))).toHaveLength(1)
})

test('the states of a paused workspace wait, and neither its events nor the rows of others', async () => {
  await add(A, STATES, 5000)
  await add(A, EVENTS, 1)
  await add(B, STATES, 400)
  const counted: string[][] = []
  const throttle: Pick<StateThrottle, 'paused' | 'count'> = {
    paused: async () => [A],
    count: (rows) => void counted.push([...new Set(rows.map(({ workspace_id }) => workspace_id))]),
  }
  const { rows } = await outboxRounds(session, throttle)()
  expect(rows.filter(({ workspace_id }) => workspace_id === A)).toMatchObject([{ topic: EVENTS }])
  expect(rows.filter(({ workspace_id }) => workspace_id === B)).toHaveLength(400)
  expect(counted).toEqual([[A, B]])
})

test('a round with a few small rows says that no more wait, so that the next one need not look', async () => {
  const nextRound = outboxRounds(session)
  expect(await nextRound()).toEqual({ rows: [], isAll: true })
  await add(A, EVENTS, 1)
  await add(B, STATES, 1)
  const { rows, isAll } = await nextRound()
  expect([rows.length, isAll]).toEqual([2, true])
  await add(C, STATES, 4000)
  expect((await nextRound()).isAll).toBe(false)
})

test('refused rows hold up neither their workspace nor others', async () => {
  await add(A, EVENTS, 3, 300_000)
  const nextRound = outboxRounds(session)
  const [refused] = (await nextRound()).rows
  if (refused) await refuseRow(session.sql, refused, 'a reason')
  await add(B, EVENTS, 1)
  const served = [...(await publish(nextRound)), ...(await publish(nextRound)), ...(await publish(nextRound))]
  expect(served.map(({ workspace_id, key }) => [workspace_id, key])).toEqual([
    [B, '1'],
    [A, '2'],
    [A, '3'],
  ])
})

test('the rows of a topic and key come in the order of their ids, whatever rows of others are between them', async () => {
  await admin`
    insert into outbox (event_id, topic, type, key, workspace_id, livemode, payload, traceparent, occurred_at)
    select
      gen_random_uuid(), case when random() < 0.5 then ${EVENTS} else ${STATES} end, 'x', workspace || '-' || (random() * 5)::integer,
      (workspace || '0000000-0000-4000-8000-000000000000')::uuid, true, to_json(repeat('x', (random() * random() * 3000)::integer)),
      ${TRACEPARENT}, now()
    from (select ceil(random() * random() * 9)::integer as workspace from generate_series(1, 4000)) as row`
  const nextRound = outboxRounds(session)
  const rows: OutboxRow[] = []
  for (let round = await publish(nextRound); round.length > 0; round = await publish(nextRound)) rows.push(...round)
  expect(rows).toHaveLength(4000)
  for (const [name, ofKey] of Map.groupBy(rows, ({ topic, key }) => `${topic} ${key}`)) {
    const ids = ofKey.map(({ id }) => Number(id))
    expect(ids, name).toEqual(ids.toSorted((one, other) => one - other))
  }
})

interface Plan {
  'Relation Name'?: string
  'Actual Rows': number
  'Actual Loops': number
  'Rows Removed by Filter'?: number
  Plans?: Plan[]
}

/** The rows that a plan has read from the outbox, wanted or not. */
const readBy = (plan: Plan): number =>
  (plan['Relation Name'] ? (plan['Actual Rows'] + (plan['Rows Removed by Filter'] ?? 0)) * plan['Actual Loops'] : 0) +
  (plan.Plans ?? []).reduce((sum, part) => sum + readBy(part), 0)

test.each([
  ['old statistics, which say that all is published', async () => undefined],
  ['new statistics', async () => void (await admin`analyze outbox`)],
])('a round reads little more rows than it has, with a large backlog and %s', async (_, analyse) => {
  await admin`alter table outbox set (autovacuum_enabled = false)`
  await add(A, STATES, 1000)
  await admin`update outbox set published_at = now()`
  await admin`analyze outbox`
  await add(A, STATES, 30_000, 100)
  for (let workspace = 0; workspace < 20; workspace++) await add(randomUUID(), STATES, 2)
  await add(B, EVENTS, 1)
  await analyse()
  for (const [kind, most] of [
    ['EVENTS', 5],
    ['OTHERS', 600],
  ] as const) {
    const wanted = { kind, after: A, rows: 500, bytes: 256 * 1024 }
    expect((await waitingRows(sql, wanted)).length).toBeGreaterThan(0)
    const { text, parameters } = sent.at(-1) ?? expect.fail('nothing was sent')
    const [row] = await sql.unsafe<{ 'QUERY PLAN': [{ Plan: Plan }] }[]>(
      `explain (analyze, format json) ${text}`,
      parameters as never[],
    )
    expect(readBy(row?.['QUERY PLAN'][0].Plan ?? expect.fail('no plan'))).toBeLessThan(most)
  }
})
