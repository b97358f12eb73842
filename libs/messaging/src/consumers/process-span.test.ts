import { recordSpans } from '@backoffice/testing/trace-receiver.ts'
import { expect, test } from 'vitest'
import { Interrupted } from './error-causes.ts'
import { inProcessSpan } from './process-span.ts'

const traceparent = (trace: number, isSampled = true) =>
  `00-${String(trace).padStart(32, '0')}-00000000000000aa-0${isSampled ? 1 : 0}`
const aRecord = (headers: Record<string, string>, offset = '7') => ({
  topic: 'catalog.events',
  partition: 2,
  offset,
  producedAt: new Date(),
  key: 'secret',
  value: Buffer.from('secret'),
  headers,
})
const traced = (...traceparents: string[]) => traceparents.map((one) => aRecord({ traceparent: one }))

test('a batch has one span in a trace of its own, with a link to each recorded trace of its records', async () => {
  const records = traced(traceparent(1), traceparent(1), traceparent(2, false), traceparent(3), 'malformed')
  let answer: unknown
  const spans = await recordSpans(async () => {
    answer = await inProcessSpan('webhook-delivery.fan-out', [...records, aRecord({})], async () => 1)
  })
  expect(spans).toMatchObject([
    {
      name: 'process catalog.events',
      kind: 5,
      links: [{ traceId: traceparent(1).slice(3, 35) }, { traceId: traceparent(3).slice(3, 35) }],
      attributes: {
        'messaging.system': 'kafka',
        'messaging.destination.name': 'catalog.events',
        'messaging.consumer.group.name': 'webhook-delivery.fan-out',
        'messaging.batch.message_count': 6,
        'messaging.kafka.offset': 7,
        'backoffice.dead_letters': 1,
      },
    },
  ])
  expect(spans[0]).not.toHaveProperty('parentSpanId')
  expect(answer).toEqual({ dead: 1, ids: { trace_id: spans[0]?.traceId, span_id: spans[0]?.spanId } })
  expect(JSON.stringify(spans)).not.toContain('secret')
})

test('a batch without a recorded trace has no span', async () => {
  const spans = await recordSpans(async () => {
    const processed = await inProcessSpan('test', traced(traceparent(1, false), ''), async () => 0)
    expect(processed).toEqual({ dead: 0, ids: {} })
  })
  expect(spans).toEqual([])
})

test('a batch with records of very many traces links to a hundred of them', async () => {
  const many = Array.from({ length: 500 }, (_, index) => traceparent(index + 1))
  const [span] = await recordSpans(() => inProcessSpan('test', traced(...many), async () => 0))
  expect(span?.links).toHaveLength(100)
})

test('a batch that fails has a failed span, one that comes again since others have a lock has not', async () => {
  const failing = (error: Error) =>
    inProcessSpan('test', traced(traceparent(1)), () => Promise.reject(error)).catch(() => undefined)
  const spans = await recordSpans(async () => {
    await failing(new Error('no'))
    await failing(new Interrupted('later'))
  })
  expect(spans.map(({ status }) => status.code)).toEqual([2, 0])
})
