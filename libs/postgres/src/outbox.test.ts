import { randomUUID } from 'node:crypto'
import { TOPICS } from '@backoffice/contracts/events.ts'
import { testDatabase } from '@backoffice/testing/database.ts'
import { beforeEach, expect, it } from 'vitest'
import { type OutboxRecord, outboxRecord, publish } from './outbox.ts'

const { admin, db, takeStatements } = await testDatabase('catalog')
const context = { workspaceId: randomUUID(), livemode: false, traceparent: `00-${'a'.repeat(32)}-${'b'.repeat(16)}-01` }
const NOW = new Date('2026-03-01T10:00:00.123Z')

beforeEach(async () => {
  await admin`truncate outbox`
})

const tagCreated = (slug: string) => {
  const id = randomUUID()
  return outboxRecord(TOPICS.catalogEvents, 'tag.created', id, { id, name: slug, slug })
}

it('writes the records in their order, with the context of the transaction, each with an id of its own', async () => {
  const records = ['c', 'a', 'b'].map(tagCreated)
  await db.inWorkspace(context, (tx) => publish(tx, records, NOW))
  const rows = await admin`select * from outbox order by id`
  expect(rows).toEqual(
    records.map((record) => ({
      id: expect.any(String),
      event_id: expect.stringMatching(/^[0-9a-f]{8}-[0-9a-f]{4}-7/),
      topic: 'catalog.events',
      key: record.key,
      type: 'tag.created',
      workspace_id: context.workspaceId,
      livemode: false,
      payload: record.data,
      traceparent: context.traceparent,
      occurred_at: NOW,
      published_at: null,
      refused: null,
      held_since: null,
      retry_at: null,
      overtaken: false,
    })),
  )
  expect(new Set(rows.map((row) => row.event_id)).size).toBe(3)
})

it.each([1, 500])('sends one statement for %i records, in their order', async (count) => {
  const records = Array.from({ length: count }, (_, index) => tagCreated(`tag-${index}`))
  takeStatements()
  await db.inWorkspace(context, (tx) => publish(tx, records, NOW))
  expect(takeStatements()).toHaveLength(4)
  const keys = (await admin`select key from outbox order by id`).map(({ key }) => key)
  expect(keys).toEqual(records.map(({ key }) => key))
})

it('sends none for no record', async () => {
  takeStatements()
  await db.inWorkspace(context, (tx) => publish(tx, [], NOW))
  expect(takeStatements()).toHaveLength(3)
})

it('keeps the members of the data in their order, and every character', async () => {
  const record = tagCreated('z')
  const data = { z: 'é 😀 "\\ \u2028', a: { y: [1, null, true], b: 2 ** 53 - 1 }, id: record.key }
  await db.inWorkspace(context, (tx) => publish(tx, [{ ...record, data }], NOW))
  const [row] = await admin<{ text: string }[]>`select payload::text as text from outbox`
  expect(JSON.stringify(JSON.parse(row?.text ?? ''))).toBe(JSON.stringify(data))
})

it('writes a tombstone as no payload', async () => {
  const tombstone: OutboxRecord = {
    topic: TOPICS.catalogProducts,
    type: 'product.state',
    key: randomUUID(),
    data: null,
  }
  await db.inWorkspace(context, (tx) => publish(tx, [tombstone], NOW))
  expect(await admin`select payload is null as is_tombstone from outbox`).toEqual([{ is_tombstone: true }])
})

it('publishes nothing of a transaction that fails', async () => {
  const failed = db.inWorkspace(context, async (tx) => {
    await publish(tx, [tagCreated('a')], NOW)
    throw new Error('no')
  })
  await expect(failed).rejects.toThrow('no')
  expect(await admin`select from outbox`).toHaveLength(0)
})
