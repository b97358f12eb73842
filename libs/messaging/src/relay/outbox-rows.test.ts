import { randomUUID } from 'node:crypto'
import { openDatabase } from '@backoffice/postgres/database.ts'
import { PLAN_EACH_TIME } from '@backoffice/postgres/plan-settings.ts'
import { whenDone } from '@backoffice/testing/when-done.ts'
import { expect, test } from 'vitest'
import { backlog, deletePublished, markPublished } from './outbox-rows.ts'
import { releaseHeldRows } from './refused-rows.ts'
import { testOutbox } from './testing/outbox.ts'

const outbox = await testOutbox()
const HOUR_MS = 60 * 60 * 1000

test('the backlog is what waits and how long the oldest has waited; refused rows are none of it', async () => {
  expect(await backlog(outbox.admin)).toEqual({ waiting: 0, seconds: 0, held: 0, refused: 0 })
  await outbox.add(randomUUID(), 'refused')
  await outbox.admin`update outbox set refused = 'a reason', occurred_at = now() - interval '1 day'`
  await outbox.add(randomUUID(), 'old')
  await outbox.admin`update outbox set occurred_at = now() - interval '90 seconds' where refused is null`
  await outbox.add(randomUUID(), 'new')
  const { waiting, seconds, held, refused } = await backlog(outbox.admin)
  expect({ waiting, held, refused }).toEqual({ waiting: 2, held: 0, refused: 1 })
  expect(Math.floor(seconds / 10)).toBe(9)
})

test('another row that has got the id of one that was published is not marked as published', async () => {
  await outbox.add(randomUUID(), 'committed before a fail-over, which lost it')
  const rows = await outbox.admin<
    { id: string; event_id: string }[]
  >`select id, event_id from outbox where refused is null`
  await outbox.admin`update outbox set event_id = gen_random_uuid() where id = ${rows.at(-1)?.id ?? ''}`
  await markPublished(outbox.admin, rows)
  const waiting = await outbox.admin`select id from outbox where published_at is null and refused is null`
  expect(waiting).toEqual([{ id: rows.at(-1)?.id }])
  await outbox.admin`update outbox set published_at = null where refused is null`
  await outbox.admin`delete from outbox where id = ${rows.at(-1)?.id ?? ''}`
})

test('rows published long ago are deleted a thousand at a time; waiting and refused rows stay', async () => {
  await outbox.admin`update outbox set published_at = now() - interval '30 minutes' where refused is null`
  await outbox.admin`
    insert into outbox (event_id, topic, type, key, workspace_id, livemode, traceparent, occurred_at, published_at)
    select gen_random_uuid(), 't', 't', 'k', gen_random_uuid(), true, '', now(), now() - interval '2 hours'
    from generate_series(1, 1500)`
  expect(await deletePublished(outbox.admin, HOUR_MS)).toBe(true)
  expect(await deletePublished(outbox.admin, HOUR_MS)).toBe(false)
  const [left] = await outbox.admin`
    select count(*)::int as rows, count(refused)::int as refused from outbox`
  expect(left).toEqual({ rows: 3, refused: 1 })
})

test('what runs every second or so reads no published rows, and neither held nor refused ones without end', async () => {
  await outbox.admin`
    insert into outbox (event_id, topic, type, key, workspace_id, livemode, traceparent, occurred_at, published_at)
    select gen_random_uuid(), 't', 't', 'k', gen_random_uuid(), true, '', now(), now() from generate_series(1, 20000)`
  await outbox.admin`
    insert into outbox (event_id, topic, type, key, workspace_id, livemode, traceparent, occurred_at, refused, held_since, retry_at)
    select gen_random_uuid(), 't', 't', 'k', gen_random_uuid(), true, '', now(), 'a reason', now(), now() + interval '1 minute'
    from generate_series(1, 15000)`
  await outbox.admin`vacuum analyze outbox`
  const statements: string[] = []
  const { sql, stop } = openDatabase({
    url: outbox.workerUrl,
    applicationName: 'plans',
    settings: PLAN_EACH_TIME,
    onStatement: (text) => statements.push(text),
  })
  whenDone(() => stop?.())
  expect(await backlog(sql)).toMatchObject({ held: 10_000, refused: 1 })
  expect(await releaseHeldRows(sql)).toBe(0)
  for (const statement of statements.filter((text) => text.includes('outbox'))) {
    const [row] = await outbox.admin.unsafe<[{ 'QUERY PLAN': unknown }]>(
      `explain (generic_plan, format json) ${statement}`,
    )
    expect(JSON.stringify(row['QUERY PLAN']), statement).not.toContain('Seq Scan')
  }
  expect(statements.length).toBeGreaterThanOrEqual(2)
})

test('held rows are due when they wait for longer than any may: the clock was ahead', async () => {
  const due = await outbox.admin`
    update outbox set retry_at = now() + interval '30 days'
    where id in (select id from outbox where retry_at is not null limit 2) returning id`
  expect(await releaseHeldRows(outbox.admin)).toBe(2)
  await outbox.admin`
    update outbox set refused = 'a reason', retry_at = now() where id in ${outbox.admin(due.map(({ id }) => id))}`
})

test('held rows that are due are released in batches, the longest due first', async () => {
  await outbox.admin`update outbox set retry_at = now() - id * interval '1 millisecond' where retry_at is not null`
  expect(await releaseHeldRows(outbox.admin)).toBe(5000)
  const [left] = await outbox.admin`
    select count(*)::integer as held, max(id) < (select min(id) from outbox where published_at is null and refused is null) as is_least_due
    from outbox where retry_at is not null`
  expect(left).toEqual({ held: 10_000, is_least_due: true })
})
