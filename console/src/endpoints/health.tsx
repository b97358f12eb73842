import { Badge } from '../parts/text.tsx'
import type { EndpointStatus } from './endpoints.ts'

/** Whether an endpoint takes its deliveries, as a light with a word. */
export function Health({ of: status }: { readonly of: EndpointStatus | undefined }) {
  if (status === undefined) return <span className="quiet">…</span>
  const { state, reason, last_success_at, last_failure } = status
  if (state === 'DISABLED') {
    return reason === 'requested' ? <Badge state="off" tone="plain" /> : <Badge state="disabled" tone="bad" />
  }
  if (state === 'FAILING') return <Badge state="failing" tone="bad" />
  if (last_failure && (last_success_at === null || last_success_at < last_failure.at)) {
    return <Badge state="last attempt failed" tone="busy" />
  }
  return last_success_at === null ? (
    <Badge state="nothing sent yet" tone="plain" />
  ) : (
    <Badge state="healthy" tone="good" />
  )
}

const PERCENT = new Intl.NumberFormat(undefined, { style: 'percent', maximumFractionDigits: 1 })

export const percentOf = (rate: number | null | undefined): string =>
  typeof rate === 'number' ? PERCENT.format(rate) : '–'

export const millisecondsOf = (ms: number | null | undefined): string =>
  typeof ms === 'number' ? `${ms.toLocaleString()} ms` : '–'
