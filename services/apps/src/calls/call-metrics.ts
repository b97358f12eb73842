import type { TextExchange } from '@backoffice/outbound/post-text.ts'
import { meter, SECONDS } from '@backoffice/runtime/metrics.ts'

const apps = meter('apps')
const calls = apps.createCounter('app_calls', {
  description: 'Attempts of calls by what was to be done, and whether it was made, or whose part of it failed',
})
const requests = apps.createHistogram('app_request_duration_seconds', {
  description:
    'From sending a request to an app to the end of its answer, by outcome: acknowledged, or what went wrong',
  unit: 's',
  advice: { explicitBucketBoundaries: SECONDS },
})

/** Counts an attempt of a call. */
export const countCall = (
  call: 'provision' | 'give_up' | 'end_access' | 'uninstall',
  outcome: 'made' | 'app_failed' | 'platform_failed' | 'stopped',
): void => calls.add(1, { call, outcome })

/** Measures a request to an app that took `durationMs`. */
export const measureAppRequest = (call: string, { failure }: TextExchange, durationMs: number): void =>
  requests.record(durationMs / 1000, { call, outcome: failure?.class ?? 'acknowledged' })
