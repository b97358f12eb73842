import type { ServerResponse } from 'node:http'
import { setTimeout as pause } from 'node:timers/promises'
import { recordSpans, startTraceReceiver, traceTo } from '@backoffice/testing/trace-receiver.ts'
import { describe, expect, it } from 'vitest'
import { z } from 'zod'
import { createLogger } from './logger.ts'
import { metricsText } from './metrics.ts'
import { inRun, inSpan, isTracing, SpanKind, startSpan, traceIds, within } from './spans.ts'
import { startTelemetry } from './telemetry.ts'
import { TELEMETRY_SETTINGS } from './telemetry-settings.ts'
import { presentTraceparent, spanContextFrom, traceHeaders, traceparentFrom, traceparentOf } from './trace-context.ts'

const TRACE = 'a0892f3577b34da6a3ce929d0e0e4736'
const SPAN = 'f03067aa0ba902b7'
const SAMPLED = `00-${TRACE}-${SPAN}-01`
const UNSAMPLED = `00-${TRACE}-${SPAN}-00`
const NONE_OF_ITS_OWN = { OTEL_TRACES_SAMPLER: 'parentbased_traceidratio', OTEL_TRACES_SAMPLER_ARG: '0' }

const namesOf = (spans: { name: string }[]) => spans.map(({ name }) => name)
/** Makes a span of this name; says which span or links it has. */
const make = (name: string, options?: Parameters<typeof startSpan>[1]) => startSpan(name, options)?.end()
const contextOf = (traceparent: string) => spanContextFrom(traceparent) ?? expect.unreachable()

describe('export', () => {
  it('sends spans with the attributes of the process and the headers of the settings', async () => {
    const receiver = await startTraceReceiver()
    const { stop } = await traceTo(receiver, {
      OTEL_EXPORTER_OTLP_HEADERS: 'authorization=Bearer%20secret',
      OTEL_RESOURCE_ATTRIBUTES: 'service.version=1.4.0,service.name=another',
    })
    make('one', { kind: SpanKind.SERVER, attributes: { a: 1 } })
    await stop()
    expect(receiver.requests).toMatchObject([{ path: '/v1/traces', headers: { authorization: 'Bearer secret' } }])
    expect(receiver.spans()).toMatchObject([
      {
        name: 'one',
        kind: 2,
        attributes: { a: 1 },
        resource: {
          'service.name': 'sample',
          'service.version': '1.4.0',
          'service.instance.id': expect.stringMatching(/^[0-9a-f-]{36}$/),
        },
      },
    ])
  })

  it.each([{}, { OTEL_EXPORTER_OTLP_ENDPOINT: 'http://127.0.0.1:1', OTEL_SDK_DISABLED: 'true' }])(
    'does not begin without an endpoint or when it is disabled: %j',
    async (variables) => {
      const settings = z.object(TELEMETRY_SETTINGS).parse(variables)
      expect(await startTelemetry('sample', settings, createLogger('test', 'silent'))).toBeUndefined()
      expect([isTracing(), startSpan('one')]).toEqual([false, undefined])
    },
  )

  it.each([
    ['is away', 'http://127.0.0.1:1'],
    ['hangs', undefined],
  ])('keeps a bounded number of spans while the receiver %s, and a stop does not wait for it', async (_how, url) => {
    const receiver = await startTraceReceiver()
    const asked: ServerResponse[] = []
    receiver.answerWith((response) => void asked.push(response))
    const { stop } = await traceTo({ url: url ?? receiver.url })
    for (let count = 0; count < 5000; count++) make('one')
    const text = await metricsText()
    expect(Number(/^otel_sdk_processor_span_queue_size\S*\{.*\} (\d+)/m.exec(text)?.[1])).toBeLessThanOrEqual(2048)
    expect(text).toMatch(/^otel_sdk_processor_span_processed\S*\{.*error_type="queue_full"/m)
    await stop()
    expect(isTracing()).toBe(false)
    // The exporter gives a request up later; the receiver needs a moment to notice.
    await pause(100)
    if (url === undefined) expect(asked.filter(({ destroyed }) => !destroyed)).not.toEqual([])
  })

  it('refuses settings that cannot be read', () => {
    const read = (variables: Record<string, string>) => z.object(TELEMETRY_SETTINGS).safeParse(variables).success
    expect(read({ OTEL_EXPORTER_OTLP_HEADERS: 'authorization' })).toBe(false)
    expect(read({ OTEL_TRACES_SAMPLER: 'sometimes' })).toBe(false)
    expect(read({ OTEL_TRACES_SAMPLER_ARG: '10%' })).toBe(false)
    expect(read({ OTEL_EXPORTER_OTLP_ENDPOINT: 'collector:4318' })).toBe(false)
  })
})

describe('sampling', () => {
  it('continues the trace of a caller that records it, whatever the ratio, and no other', async () => {
    const spans = await recordSpans(async () => {
      make('sampled', { parent: contextOf(SAMPLED) })
      make('unsampled', { parent: contextOf(UNSAMPLED) })
      make('own')
    }, NONE_OF_ITS_OWN)
    expect(spans).toMatchObject([{ name: 'sampled', traceId: TRACE, parentSpanId: SPAN }])
  })

  it('decides anew for a client’s trace, but keeps it', async () => {
    const ofClient = (traceparent: string) =>
      make('of a client', { parent: contextOf(traceparent), isParentTrusted: false })
    expect(await recordSpans(async () => ofClient(SAMPLED), NONE_OF_ITS_OWN)).toEqual([])
    expect(await recordSpans(async () => ofClient(UNSAMPLED))).toMatchObject([{ traceId: TRACE, parentSpanId: SPAN }])
  })

  it.each(['parentbased_traceidratio', 'traceidratio'])('no client’s trace id decides, with %s', async (sampler) => {
    const settings = { OTEL_TRACES_SAMPLER: sampler, OTEL_TRACES_SAMPLER_ARG: '0.2' }
    const lowest = contextOf(`00-${'1'.padStart(32, '0')}-${SPAN}-01`)
    const spans = await recordSpans(async () => {
      for (let count = 0; count < 500; count++) make('of a client', { parent: lowest, isParentTrusted: false })
    }, settings)
    expect(spans.length).toBeGreaterThan(40)
    expect(spans.length).toBeLessThan(200)
  })

  it('records what is linked to a recorded trace, in a trace of its own', async () => {
    const spans = await recordSpans(async () => {
      make('linked', { links: [contextOf(UNSAMPLED), contextOf(SAMPLED)] })
      make('linked to nothing', { links: [contextOf(UNSAMPLED)] })
    }, NONE_OF_ITS_OWN)
    expect(namesOf(spans)).toEqual(['linked'])
    expect(spans[0]?.traceId).not.toBe(TRACE)
    expect(spans[0]?.links.at(-1)).toEqual({ traceId: TRACE, spanId: SPAN })
  })

  it('records the given share of new traces', async () => {
    const settings = { OTEL_TRACES_SAMPLER: 'parentbased_traceidratio', OTEL_TRACES_SAMPLER_ARG: '0.5' }
    const spans = await recordSpans(async () => {
      for (let count = 0; count < 1000; count++) make('one')
    }, settings)
    expect(spans.length).toBeGreaterThan(400)
    expect(spans.length).toBeLessThan(600)
  })
})

describe('propagation', () => {
  it('continues the active span, with the tracestate of its caller', async () => {
    let headers: unknown
    const [span] = await recordSpans(async () => {
      const parent = spanContextFrom(SAMPLED, 'vendor=1')
      const active = startSpan('active', { parent })
      headers = within(active, () => traceHeaders({ traceparent: UNSAMPLED }))
      active?.end()
    })
    expect(headers).toEqual({ traceparent: `00-${TRACE}-${span?.spanId}-01`, tracestate: 'vendor=1' })
  })

  it('what a caller does not record goes on in the caller’s span, in headers and in the log', async () => {
    const parent = spanContextFrom(UNSAMPLED, 'vendor=1')
    const spans = await recordSpans(async () => {
      within(startSpan('unsampled', { parent }), () => {
        expect(traceHeaders({})).toEqual({ traceparent: UNSAMPLED, tracestate: 'vendor=1' })
        expect(traceIds()).toEqual({ trace_id: TRACE, span_id: SPAN })
      })
    })
    expect(spans).toEqual([])
  })

  it('passes a caller’s headers on without telemetry, its tracestate with its traceparent only', () => {
    const came = { traceparent: SAMPLED, tracestate: 'vendor=1' }
    expect(traceHeaders(came)).toEqual(came)
    expect(traceHeaders({ ...came, tracestate: 'a'.repeat(513) })).toEqual({ traceparent: SAMPLED })
    expect(traceHeaders({ ...came, traceparent: 'trace' }).tracestate).toBeUndefined()
  })

  it('a worker’s run has a span once it begins a trace, and none when there was nothing to do', async () => {
    let traceparents: string[] = []
    const spans = await recordSpans(async () => {
      await inRun('idle worker', async () => inSpan('child', {}, async () => undefined))
      await inRun('busy worker', async () => {
        traceparents = [traceparentFrom(undefined), presentTraceparent()]
        await inSpan('child', {}, async () => undefined)
      })
    })
    expect(namesOf(spans)).toEqual(['child', 'busy worker'])
    const [child, run] = spans
    expect(child?.parentSpanId).toBe(run?.spanId)
    expect(traceparents).toEqual(Array(2).fill(`00-${run?.traceId}-${run?.spanId}-01`))
  })

  it('what a worker’s run has started begins no span after the run, since nobody would end it', async () => {
    const { promise: end, resolve } = Promise.withResolvers<void>()
    let later: Promise<string> | undefined
    const spans = await recordSpans(async () => {
      await inRun('worker', async () => {
        later = end.then(() => presentTraceparent(SAMPLED))
      })
      resolve()
      expect(await later).toBe(SAMPLED)
    })
    expect(spans).toEqual([])
  })

  it('a record’s trace comes before the active span’s', async () => {
    await recordSpans(async () => {
      const active = startSpan('active')
      within(active, () => {
        expect(traceparentFrom(SAMPLED)).toBe(SAMPLED)
        expect(presentTraceparent(SAMPLED)).toBe(traceparentOf(active?.spanContext() ?? expect.unreachable()))
      })
    })
  })
})

describe('contents', () => {
  it('of an error a span has the type, never the message, and a refusal is no error', async () => {
    const spans = await recordSpans(async () => {
      const root = startSpan('root')
      const fail = (error: unknown) => inSpan('child', {}, () => Promise.reject(error)).catch(() => undefined)
      await within(root, () => fail(Object.assign(new Error('Key (email)=(turing@example.com)'), { code: '23505' })))
      await within(root, () =>
        fail(Object.assign(new Error('name: is turing'), { code: 'unprocessable', status: 422 })),
      )
      root?.end()
    })
    expect(spans).toMatchObject([
      { status: { code: 2 }, attributes: { 'error.type': '23505' } },
      { status: { code: 0 }, attributes: {} },
      { name: 'root' },
    ])
    expect(JSON.stringify(spans)).not.toContain('turing')
  })

  it('a line of the log leads to the active span, and to none that has ended', async () => {
    const lines: string[] = []
    const [span] = await recordSpans(async () => {
      const logger = createLogger('sample', 'info', { write: (line) => void lines.push(line) })
      const active = startSpan('active')
      within(active, () => logger.info('within'))
      active?.end()
      within(active, () => logger.info('after'))
    })
    const [during, after] = lines.map((line) => JSON.parse(line))
    expect(during).toMatchObject({ msg: 'within', trace_id: span?.traceId, span_id: span?.spanId })
    expect(after).not.toHaveProperty('trace_id')
  })
})
