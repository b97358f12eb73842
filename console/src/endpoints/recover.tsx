import { useQuery } from '@tanstack/react-query'
import { api, bodyOf, type components } from '../api/client.ts'
import { orNone } from '../api/failure.ts'
import { ApiAct, counted, useAction } from '../parts/action.tsx'
import { isoOf, LOCAL_TIME, Options } from '../parts/filters.tsx'
import { fieldOf, submitted } from '../parts/form-dialog.tsx'
import { Section, Unread } from '../parts/page.tsx'
import { Time } from '../parts/text.tsx'
import { useCan } from '../session/session.ts'
import { useEventTypes } from './endpoints.ts'

type Progress = components['schemas']['EndpointRecovery']
type Input = components['schemas']['RecoveryInput']

const RUNNING_MS = 1_000

/** Sends again what failed since some time, such as an outage, with its progress. */
export function Recover({ endpoint: id }: { readonly endpoint: string }) {
  const params = { path: { id } }
  const recovery = useQuery({
    queryKey: ['endpoints', id, 'recovery'],
    queryFn: () => orNone(bodyOf(api.GET('/v1/webhooks/{id}/recovery', { params }))),
    refetchInterval: ({ state }) => (state.data?.status === 'RUNNING' ? RUNNING_MS : false),
  })
  const begin = useAction((body: Input) => bodyOf(api.POST('/v1/webhooks/{id}/recover', { params, body })), {
    done: ({ deliveries }) =>
      deliveries === 0
        ? 'Nothing failed since then.'
        : `${counted(deliveries, 'delivery', 'deliveries')} will be sent again.`,
    changes: ['endpoints', 'deliveries'],
  })
  return (
    <Section
      title="Send again what failed"
      actions={
        recovery.data?.status === 'RUNNING' && (
          <ApiAct
            needs="webhook::create"
            act={() => bodyOf(api.POST('/v1/webhooks/{id}/recovery/cancel', { params }))}
            done="The rest is not sent again."
            changes={['endpoints']}
          >
            Cancel
          </ApiAct>
        )
      }
    >
      {recovery.data && <HowFar of={recovery.data} />}
      {recovery.data?.status !== 'RUNNING' && <RecoverForm isBusy={begin.isPending} onSubmit={begin.mutate} />}
    </Section>
  )
}

const HowFar = ({ of: { status, since, deliveries, sent_again, ended_at } }: { readonly of: Progress }) => (
  <div className="stack" role="status">
    {status === 'RUNNING' && <progress aria-label="Sent again" value={sent_again} max={Math.max(deliveries, 1)} />}
    <p>
      {sent_again.toLocaleString()} of {counted(deliveries, 'delivery', 'deliveries')} sent again, of those that failed
      since <Time at={since} />
      {status === 'CANCELLED' && ', then cancelled'}
      {ended_at && (
        <>
          {' '}
          (<Time at={ended_at} />)
        </>
      )}
      .
    </p>
  </div>
)

interface RecoverFormProps {
  readonly isBusy: boolean
  readonly onSubmit: (input: Input) => void
}

function RecoverForm({ isBusy, onSubmit }: RecoverFormProps) {
  const can = useCan()
  const types = useEventTypes()
  const submit = submitted((form) => {
    const [until, type] = [isoOf(fieldOf(form, 'until')), fieldOf(form, 'type')]
    onSubmit({
      since: isoOf(fieldOf(form, 'since')),
      ...(until && { until }),
      ...(type && { event_types: [type] }),
    })
  })
  return (
    <form onSubmit={submit}>
      <p className="quiet">After an outage: each delivery that failed is sent once more, behind fresh events.</p>
      <div className="filters">
        <label>
          Failed since
          <input name="since" {...LOCAL_TIME} required />
        </label>
        <label>
          Until
          <input name="until" {...LOCAL_TIME} />
        </label>
        <label>
          Event
          <select name="type">
            <option value="">any</option>
            <Options of={(types.data ?? []).map((type) => [type, type])} />
          </select>
        </label>
        <button
          type="submit"
          disabled={isBusy || !can('webhook::create')}
          title={can('webhook::create') ? undefined : 'This session lacks the scope webhook::create'}
        >
          Send again
        </button>
      </div>
      <Unread of={types} />
    </form>
  )
}
