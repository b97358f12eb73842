import { outcomeOf } from '../deliveries/advice.ts'
import type { Column } from '../parts/table.tsx'
import { Badge, Long, Time } from '../parts/text.tsx'

interface EndpointHealth {
  readonly id: string
  readonly url: string
  readonly state: string
  readonly reason: string | null
  readonly since: string
  readonly app: string | null
  readonly last_success_at: string | null
  readonly last_failure: {
    readonly at: string
    readonly error_class: string
    readonly response_status: number | null
  } | null
}

const REASONS: Readonly<Record<string, string>> = {
  requested: 'somebody asked for it',
  no_success: 'nothing succeeds',
  gone: 'answered 410',
}

/** How an endpoint takes its deliveries. */
export const HEALTH: readonly Column<EndpointHealth>[] = [
  { head: 'Endpoint', cell: ({ url }) => <Long text={url} most={80} /> },
  {
    head: 'State',
    cell: ({ state, reason }) => (
      <span>
        <Badge state={state} /> {reason && (REASONS[reason] ?? reason)}
      </span>
    ),
  },
  { head: 'Since', cell: ({ since }) => <Time at={since} /> },
  { head: 'Last success', cell: ({ last_success_at }) => <Time at={last_success_at} /> },
  {
    head: 'Last failure',
    cell: ({ last_failure: failure }) =>
      failure ? (
        <span>
          {outcomeOf(failure.response_status, failure.error_class)}, <Time at={failure.at} />
        </span>
      ) : (
        '–'
      ),
  },
  { head: 'App', cell: ({ app }) => app ?? '–', isShort: true },
]
