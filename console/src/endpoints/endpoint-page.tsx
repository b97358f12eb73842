import { useQuery } from '@tanstack/react-query'
import { Link, useNavigate, useParams } from '@tanstack/react-router'
import { api, bodyOf } from '../api/client.ts'
import { outcomeOf } from '../deliveries/advice.ts'
import { COLUMNS } from '../deliveries/delivery-columns.tsx'
import { findDeliveries } from '../deliveries/find-deliveries.ts'
import { ApiAct } from '../parts/action.tsx'
import { Facts, Page, Section } from '../parts/page.tsx'
import { Table } from '../parts/table.tsx'
import { Id, Long, Time } from '../parts/text.tsx'
import { useCan } from '../session/session.ts'
import { signatureOf } from './endpoint-members.tsx'
import { type EndpointStatus, endpointOf, shortUrl, statusOf } from './endpoints.ts'
import { Health, millisecondsOf, percentOf } from './health.tsx'
import { Outcomes } from './outcomes.tsx'
import { RateLimit } from './rate-limit.tsx'
import { Recover } from './recover.tsx'
import { RotateSecret } from './secret.tsx'
import { SendPing, SendTest } from './try-out.tsx'

const LIVE_MS = 3_000
const SHOWN = 8

/** One endpoint: how it takes its deliveries, what it asks for, and all that can be done with it. */
export function EndpointPage() {
  const { endpoint: id } = useParams({ from: '/endpoints/$endpoint' })
  const found = useQuery(endpointOf(id))
  const status = useQuery(statusOf(id))
  return (
    <Page
      title={found.data ? shortUrl(found.data.body.url) : 'Endpoint'}
      above={<Link to="/endpoints">Endpoints</Link>}
      actions={
        found.data && (
          <>
            <SendPing endpoint={id} />
            <SendTest endpoint={id} />
            {status.data && <Switch endpoint={id} status={status.data} />}
          </>
        )
      }
      of={found}
    >
      {({ body: endpoint }) => (
        <>
          <Section title="Health" of={status}>
            {(now) => <HealthFacts of={now} />}
          </Section>
          <Latest endpoint={id} />
          <Recover endpoint={id} />
          <Section title="Settings" actions={<Edit endpoint={id} />}>
            <Facts
              of={{
                URL: <Long text={endpoint.url} />,
                Description: endpoint.description && <Long text={endpoint.description} />,
                Events: (
                  <Long text={endpoint.enabled_events.map((name) => (name === '*' ? 'all events' : name)).join(', ')} />
                ),
                Signature: signatureOf(endpoint),
                App: status.data?.app,
                Endpoint: <Id id={id} />,
                Created: <Time at={endpoint.created_at} />,
              }}
            />
            <RateLimit endpoint={id} />
            <div className="actions">
              <RotateSecret endpoint={id} />
              <Delete endpoint={id} />
            </div>
          </Section>
        </>
      )}
    </Page>
  )
}

const WHY: Readonly<Record<string, string>> = {
  requested: 'Somebody disabled it. What occurs meanwhile waits for up to 30 days.',
  no_success: 'No attempt succeeds any more. Look at the latest failed delivery for what to do.',
  gone: 'It answers 410, gone. Delete it if nobody needs it.',
}

function HealthFacts({ of: status }: { readonly of: EndpointStatus }) {
  const { last_failure } = status
  return (
    <>
      <Facts
        of={{
          Now: <Health of={status} />,
          'Success, 24 h': percentOf(status.success_rate_24h),
          '95 % answered within': millisecondsOf(status.p95_ms),
          'Oldest that waits': status.oldest_pending ? <Time at={status.oldest_pending} /> : 'none waits',
          'Last success': <Time at={status.last_success_at} />,
          'Last failure': last_failure && (
            <>
              <Time at={last_failure.at} />: {outcomeOf(last_failure.response_status, last_failure.error_class)}
            </>
          ),
        }}
      />
      {status.reason && <p className="notice">{WHY[status.reason] ?? status.reason}</p>}
    </>
  )
}

/** The chart and the latest deliveries, which show what a ping was answered. */
function Latest({ endpoint }: { readonly endpoint: string }) {
  const latest = useQuery({
    queryKey: ['deliveries', 'latest', endpoint],
    queryFn: () => findDeliveries({ endpoint_id: endpoint, limit: '100' }),
    refetchInterval: LIVE_MS,
  })
  return (
    <Section
      title="Latest deliveries"
      actions={
        <Link to="/deliveries" search={{ endpoint_id: endpoint }}>
          All deliveries
        </Link>
      }
      of={latest}
    >
      {({ items }) => (
        <>
          <Outcomes of={items} />
          {items.length > 0 && <Table label="Latest deliveries" rows={items.slice(0, SHOWN)} columns={COLUMNS} />}
        </>
      )}
    </Section>
  )
}

/** Disables an endpoint, or enables it. */
function Switch({ endpoint: id, status }: { readonly endpoint: string; readonly status: EndpointStatus }) {
  const isOff = status.state === 'DISABLED'
  const path = isOff ? '/v1/webhooks/{id}/enable' : '/v1/webhooks/{id}/disable'
  return (
    <ApiAct
      needs="webhook::create"
      className={isOff ? 'primary' : undefined}
      question={isOff ? undefined : 'Send nothing to this endpoint until it is enabled again?'}
      act={() => bodyOf(api.POST(path, { params: { path: { id } } }))}
      done={isOff ? 'The endpoint is enabled. What waited is sent now.' : 'The endpoint is disabled.'}
      changes={['endpoints']}
    >
      {isOff ? 'Enable' : 'Disable'}
    </ApiAct>
  )
}

function Edit({ endpoint }: { readonly endpoint: string }) {
  const can = useCan()
  if (!can('webhook::update')) return null
  return (
    <Link to="/endpoints/$endpoint/edit" params={{ endpoint }} className="button">
      Edit
    </Link>
  )
}

function Delete({ endpoint: id }: { readonly endpoint: string }) {
  const navigate = useNavigate()
  return (
    <ApiAct
      needs="webhook::delete"
      className="danger"
      question="Delete this endpoint and all of its deliveries? This cannot be taken back."
      act={() => bodyOf(api.DELETE('/v1/webhooks/{id}', { params: { path: { id } } }))}
      done="The endpoint is deleted."
      changes={['endpoints', 'deliveries']}
      onDone={() => navigate({ to: '/endpoints' })}
    >
      Delete
    </ApiAct>
  )
}
