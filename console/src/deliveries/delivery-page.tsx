import { useQuery } from '@tanstack/react-query'
import { Link, useParams } from '@tanstack/react-router'
import { api, bodyOf, type components } from '../api/client.ts'
import { Act, useAction } from '../parts/action.tsx'
import { Answer } from '../parts/answer.tsx'
import { Badge } from '../parts/badge.tsx'
import { Facts, Page, Section } from '../parts/page.tsx'
import { Id, Json, Time } from '../parts/text.tsx'

type Attempt = components['schemas']['DeliveryAttempt']

const PENDING_MS = 2_000

/** One delivery: what was sent, and what was answered to each attempt. */
export function DeliveryPage() {
  const { endpoint, delivery } = useParams({ from: '/endpoints/$endpoint/deliveries/$delivery' })
  const path = { params: { path: { id: endpoint, delivery_id: delivery } } }
  const found = useQuery({
    queryKey: ['deliveries', endpoint, delivery],
    queryFn: () => bodyOf(api.GET('/v1/webhooks/{id}/deliveries/{delivery_id}', path)),
    refetchInterval: ({ state }) => (state.data?.status === 'PENDING' ? PENDING_MS : false),
  })
  const resend = useAction(() => bodyOf(api.POST('/v1/webhooks/{id}/deliveries/{delivery_id}/resend', path)), {
    done: 'The delivery is sent again.',
    changes: ['deliveries'],
  })
  return (
    <Page
      title={found.data?.event_type ?? 'Delivery'}
      above={<Link to="/deliveries">Deliveries</Link>}
      actions={
        <Act needs="webhook::create" isBusy={resend.isPending} onAct={() => resend.mutate()}>
          Resend
        </Act>
      }
    >
      <Answer of={found}>
        {(one) => (
          <>
            <Section title="Delivery">
              <Facts
                of={{
                  State: <Badge state={one.status} />,
                  Event: <Id id={one.event_id} />,
                  Delivery: <Id id={one.id} />,
                  Created: <Time at={one.created_at} />,
                  Delivered: one.delivered_at && <Time at={one.delivered_at} />,
                  'Next attempt': one.next_attempt_at && <Time at={one.next_attempt_at} />,
                }}
              />
            </Section>
            {one.attempts.toReversed().map((attempt) => (
              <AttemptOf key={attempt.number} attempt={attempt} />
            ))}
          </>
        )}
      </Answer>
    </Page>
  )
}

const AttemptOf = ({
  attempt: { number, at, duration_ms, request, response, error },
}: {
  readonly attempt: Attempt
}) => (
  <Section title={`Attempt ${number}`}>
    <Facts
      of={{
        At: <Time at={at} />,
        Took: `${duration_ms.toLocaleString()} ms`,
        Answer: response?.status,
        Error: error && `${error.class}: ${error.message}`,
        To: request.url,
      }}
    />
    <details>
      <summary>Sent</summary>
      <Json value={request.headers} />
      <Json value={request.body} />
    </details>
    {response && (
      <details>
        <summary>Answered</summary>
        <Json value={response.headers} />
        <Json value={response.body} />
      </details>
    )}
  </Section>
)
