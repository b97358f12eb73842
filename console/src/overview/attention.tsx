import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { api, bodyOf, type components, taggedFrom } from '../api/client.ts'
import { outcomeOf } from '../deliveries/advice.ts'
import { counted } from '../parts/action.tsx'
import { limitName } from '../parts/limits.tsx'
import { Failure, Section } from '../parts/page.tsx'
import { Badge } from '../parts/text.tsx'
import { useCan } from '../session/session.ts'

type Schemas = components['schemas']
type EndpointHealth = Pick<Schemas['WebhookEndpointStatus'], 'state' | 'reason' | 'last_failure'> &
  Pick<Schemas['WebhookEndpoint'], 'id' | 'url'>

interface Concern {
  readonly key: string
  readonly state: string
  readonly text: string
  /** The page to go to. What this page shows itself has none. */
  readonly to?: string
  readonly search?: Readonly<Record<string, string>>
}

const LIVE_MS = 15_000
const DAY_MS = 86_400_000
const MOST_FAILED = 100
const NEAR = 0.9
const BAD = ['FAILED', 'FAILING', 'DISABLED', 'FULL']

/** What is looked at, with the scope that it needs. */
const PARTS = [
  ['webhook::read', 'endpoints and deliveries'],
  ['import::read', 'imports'],
  ['app::read', 'apps'],
  ['workspace::read', 'limits and requests'],
] as const

interface AttentionProps {
  readonly usage: Schemas['Usage'] | undefined
  readonly limits: Schemas['Limits'] | undefined
}

/** What somebody should look at, with the way there. */
export function Attention({ usage, limits }: AttentionProps) {
  const can = useCan()
  const webhooks = useQuery({
    queryKey: ['deliveries', 'attention'],
    queryFn: readWebhooks,
    enabled: can('webhook::read'),
    refetchInterval: LIVE_MS,
  })
  const imports = useQuery({
    queryKey: ['imports', 'attention'],
    queryFn: () => bodyOf(api.GET('/v1/imports', { params: { query: { limit: 100 } } })),
    enabled: can('import::read'),
    refetchInterval: LIVE_MS,
  })
  const apps = useQuery({
    queryKey: ['apps', 'attention'],
    queryFn: () => bodyOf(api.GET('/v1/apps', { params: { query: { limit: 100 } } })),
    enabled: can('app::read'),
  })
  const hidden = PARTS.filter(([scope]) => !can(scope)).map(([, part]) => part)
  const error = webhooks.error ?? imports.error ?? apps.error
  const isPending = [webhooks, imports, apps].some(({ isLoading }) => isLoading)
  const concerns = [
    ...(webhooks.data ?? []),
    ...(imports.data?.items ?? []).flatMap(ofImport),
    ...(apps.data?.items ?? []).flatMap(ofApp),
    ...(limits?.limits ?? []).flatMap(ofLimit),
    ...ofToday(usage?.days.at(-1)),
  ]
  return (
    <Section title="Needs attention">
      {error && <Failure error={error} isStale />}
      {concerns.length > 0 && (
        <ul className="concerns">
          {concerns.map(({ key, state, text, to, search = {} }) => (
            <li key={key}>
              <Badge state={state} tone={BAD.includes(state) ? 'bad' : 'busy'} />
              {to ? (
                <Link to={to} search={search}>
                  {text}
                </Link>
              ) : (
                <span>{text}</span>
              )}
            </li>
          ))}
        </ul>
      )}
      {concerns.length === 0 && !error && (
        <p className="quiet">
          {isPending ? 'Loading…' : 'Nothing. Failing endpoints and waiting imports appear here.'}
        </p>
      )}
      {hidden.length > 0 && <p className="quiet">This session may not see {hidden.join(', ')}.</p>}
    </Section>
  )
}

const MOST_SHOWN = 80
/** The page behind the link has the whole text. */
const short = (text: string) => (text.length > MOST_SHOWN ? `${text.slice(0, MOST_SHOWN)}…` : text)

/** Deliveries that failed in the last day, and endpoints that get nothing, unless somebody has asked for that. */
async function readWebhooks(): Promise<Concern[]> {
  const since = new Date(Date.now() - DAY_MS).toISOString()
  const query = { status: 'FAILED', since, limit: MOST_FAILED } as const
  const [failed, health] = await Promise.all([
    bodyOf(api.GET('/v1/deliveries', { params: { query } })),
    taggedFrom<{ endpoints: EndpointHealth[] }>('/webhooks'),
  ])
  const many = failed.next
    ? `More than ${MOST_FAILED} deliveries`
    : counted(failed.items.length, 'delivery', 'deliveries')
  const text = `${many} failed in the last day`
  const search = { status: 'FAILED', since }
  return [
    ...health.body.endpoints.flatMap(ofEndpoint),
    ...(failed.items.length === 0 ? [] : [{ key: 'failed', state: 'FAILED', text, to: '/deliveries', search }]),
  ]
}

function ofEndpoint({ id, url, state, reason, last_failure: failure }: EndpointHealth): Concern[] {
  if (state === 'ACTIVE' || reason === 'requested') return []
  const why = failure ? `, last answer ${outcomeOf(failure.response_status, failure.error_class)}` : ''
  return [{ key: id, state, text: `Endpoint ${short(url)}${why}`, to: `/endpoints/${id}` }]
}

function ofImport({ id, file, status, total_rows }: Schemas['Import']): Concern[] {
  if (status !== 'VALIDATED' && status !== 'INVALID') return []
  const rows = counted(total_rows, 'row')
  const fate = status === 'VALIDATED' ? `${rows} can be applied` : 'it has rows with errors'
  const text = `Import ${short(file)}: ${fate}`
  return [{ key: id, state: 'WAITS', text, to: `/imports/${id}` }]
}

function ofApp({ provider, name, state }: Schemas['App']): Concern[] {
  if (state !== 'FAILED') return []
  const text = `App ${short(name)} could not be installed`
  return [{ key: provider, state, text, to: `/apps/${provider}` }]
}

function ofLimit({ name, used, most }: Schemas['Limit']): Concern[] {
  if (used === null || used < most * NEAR) return []
  const text = `${limitName(name)}: ${Math.floor((used / Math.max(most, 1)) * 100)} % are used`
  return [{ key: name, state: used < most ? 'ALMOST_FULL' : 'FULL', text }]
}

function ofToday(today: Schemas['UsageOfDay'] | undefined): Concern[] {
  if (today === undefined || today.rate_limited === 0) return []
  const text = `${counted(today.rate_limited, 'request')} of today's ${today.requests.toLocaleString()} came too fast`
  return [{ key: '429', state: 'REFUSED', text }]
}
