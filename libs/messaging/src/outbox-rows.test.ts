import { randomUUID } from 'node:crypto'
import { expect, test } from 'vitest'
import { backlog, deletePublished } from './outbox-rows.ts'
import { testOutbox } from './testing/outbox.ts'

const outbox = await testOutbox()
const HOUR_MS = 60 * 60 * 1000

test('the backlog is what waits and how long the oldest has waited; refused rows are none of it', async () => {
  expect(await backlog(outbox.admin)).toEqual({ rows: 0, seconds: 0 })
  await outbox.add(randomUUID(), 'refused')
  await outbox.admin`update outbox set refused = 'a reason', occurred_at = now() - interval '1 day'`
  await outbox.add(randomUUID(), 'old')
  await outbox.admin`update outbox set occurred_at = now() - interval '90 seconds' where refused is null`
  await outbox.add(randomUUID(), 'new')
  const { rows, seconds } = await backlog(outbox.admin)
  expect(rows).toBe(2)
  expect(Math.floor(seconds / 10)).toBe(9)
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
