import { RECORDS, TOPICS } from '@backoffice/contracts/events.ts'
import { expect, test } from 'vitest'
import { readEventSchema } from './platform-event.ts'

const id = '0198c7a0-0000-7000-8000-000000000001'
const tag = { id, name: 'New in', slug: 'new-in' }
const record = {
  id,
  type: 'tag.created',
  workspace_id: id,
  livemode: true,
  occurred_at: '2026-03-01T10:00:00.000Z',
  data: tag,
}
const read = (value: unknown) => {
  const schema = readEventSchema(() => new Date())
  return (typeof schema === 'function' ? schema(TOPICS.catalogEvents) : schema).parse(value)
}

test('an event of a later release, with a member that this release does not know, is passed on with it', () => {
  const later = { ...record, data: { ...tag, colour: 'red' } }
  expect(RECORDS[TOPICS.catalogEvents]['tag.created'].safeParse(later).success).toBe(false)
  expect(read(later)).toEqual(later)
})

test('an event of an earlier release, without a member that was added since, is passed on as it is', () => {
  const earlier = { ...record, data: { id, name: 'New in' } }
  expect(read(earlier)).toEqual(earlier)
})
