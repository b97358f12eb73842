import { randomUUID } from 'node:crypto'
import { recordSpans } from '@backoffice/testing/trace-receiver.ts'
import { expect, test } from 'vitest'
import type { OutboxRow } from './outbox-rows.ts'
import { publishSpan } from './publish-span.ts'

const traceparent = (isSampled: boolean) => `00-${'1'.padStart(32, '0')}-00000000000000aa-0${isSampled ? 1 : 0}`

test('publishing a row has a span in the trace of its change, unless that is not recorded', async () => {
  const row: OutboxRow = {
    id: '1',
    event_id: randomUUID(),
    topic: 'catalog.events',
    key: randomUUID(),
    type: 'product.created',
    workspace_id: randomUUID(),
    livemode: true,
    payload: '"secret"',
    bytes: 8,
    traceparent: traceparent(true),
    occurred_at: new Date(Date.now() - 5000),
    is_behind: false,
  }
  const [span, ...others] = await recordSpans(async () => {
    publishSpan(row)?.end()
    for (const other of [traceparent(false), '', 'trace'])
      expect(publishSpan({ ...row, traceparent: other })).toBe(undefined)
  })
  expect(others).toEqual([])
  expect(span).toMatchObject({
    name: 'send catalog.events',
    kind: 4,
    traceId: traceparent(true).slice(3, 35),
    parentSpanId: '00000000000000aa',
    attributes: { 'messaging.message.id': row.event_id, 'backoffice.record_type': 'product.created' },
  })
  expect(span?.attributes['backoffice.outbox_wait_ms']).toBeGreaterThanOrEqual(5000)
  expect(JSON.stringify(span)).not.toContain('secret')
})
