import { useQuery } from '@tanstack/react-query'
import { Link, useParams } from '@tanstack/react-router'
import { api, bodyOf, type components } from '../api/client.ts'
import { hostOf, useAllEndpoints } from '../endpoints/endpoints.ts'
import { Act, useAction } from '../parts/action.tsx'
import { Answer, Facts, Page, Section } from '../parts/page.tsx'
import { Badge, Id, Time } from '../parts/text.tsx'
import { EarlierAttempts, NewestAttempt } from './attempt.tsx'
import { Payload } from './payload.tsx'
import { VerifySignature } from './verify-signature.tsx'

type Detail = components['schemas']['DeliveryDetail']

const PENDING_MS = 2_000
/** An attempt that is asked for shows within seconds. */
const RESENT_MS = 20_000

/** One delivery: what is sent, and what was answered to each attempt. */
export function DeliveryPage() {
  const { endpoint, delivery } = useParams({ from: '/deliveries/$endpoint/$delivery' })
  const path = { params: { path: { id: endpoint, delivery_id: delivery } } }
  const resend = useAction(() => bodyOf(api.POST('/v1/webhooks/{id}/deliveries/{delivery_id}/resend', path)), {
    done: 'The delivery is sent again.',
    changes: ['deliveries'],
  })
  const isResent = () => resend.isSuccess && Date.now() - resend.submittedAt < RESENT_MS
  const found = useQuery({
    queryKey: ['deliveries', endpoint, delivery],
    queryFn: () => bodyOf(api.GET('/v1/webhooks/{id}/deliveries/{delivery_id}', path)),
    refetchInterval: ({ state }) => (state.data?.status === 'PENDING' || isResent() ? PENDING_MS : false),
  })
  const payload = useQuery({
    queryKey: ['deliveries', endpoint, delivery, 'body'],
    queryFn: () => bodyOf(api.GET('/v1/webhooks/{id}/deliveries/{delivery_id}/body', path)),
  })
  const last = found.data?.attempts.at(-1)
  return (
    <Page
      title={found.data?.event_type ?? 'Delivery'}
      above={<Link to="/deliveries">Deliveries</Link>}
      actions={
        <Act needs="webhook::create" className="primary" isBusy={resend.isPending} onAct={() => resend.mutate()}>
          Resend
        </Act>
      }
    >
      <Answer of={found}>
        {(one) => (
          <>
            <Summary of={one} endpoint={endpoint} />
            {last && <NewestAttempt attempt={last} />}
            {one.attempts.length > 1 && <EarlierAttempts attempts={one.attempts.slice(0, -1).toReversed()} />}
          </>
        )}
      </Answer>
      {found.data && <Answer of={payload}>{({ body }) => <Payload body={body} last={last} />}</Answer>}
      {last && (
        <Section title="Signature">
          <VerifySignature key={last.number} attempt={last} />
        </Section>
      )}
    </Page>
  )
}

function Summary({ of: one, endpoint }: { readonly of: Detail; readonly endpoint: string }) {
  const url = useAllEndpoints().data?.find(({ id }) => id === endpoint)?.url
  return (
    <Section title="Delivery">
      <Facts
        of={{
          State: <Badge state={one.status} />,
          Endpoint: (
            <Link to="/endpoints/$endpoint" params={{ endpoint }}>
              {url ? hostOf(url) : 'Endpoint'}
            </Link>
          ),
          Created: <Time at={one.created_at} />,
          Delivered: one.delivered_at && <Time at={one.delivered_at} />,
          'Next attempt': one.next_attempt_at && <Time at={one.next_attempt_at} />,
          'Attempts so far': one.attempts.length,
          Event: <Id id={one.event_id} />,
          Delivery: <Id id={one.id} />,
        }}
      />
      <p>
        <Link to="/deliveries" search={{ event_id: one.event_id }}>
          This event at all endpoints
        </Link>
      </p>
    </Section>
  )
}
