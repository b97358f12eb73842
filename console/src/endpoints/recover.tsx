import { useQuery } from '@tanstack/react-query'
import type { FormEvent } from 'react'
import { api, bodyOf, type components } from '../api/client.ts'
import { orNone } from '../api/failure.ts'
import { Act, counted, useAction } from '../parts/action.tsx'
import { isoOf } from '../parts/filters.tsx'
import { fieldOf } from '../parts/form-dialog.tsx'
import { Section } from '../parts/page.tsx'
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
  const cancel = useAction(() => bodyOf(api.POST('/v1/webhooks/{id}/recovery/cancel', { params })), {
    done: 'The rest is not sent again.',
    changes: ['endpoints'],
  })
  return (
    <Section
      title="Send again what failed"
      actions={
        recovery.data?.status === 'RUNNING' && (
          <Act needs="webhook::create" isBusy={cancel.isPending} onAct={() => cancel.mutate()}>
            Cancel
          </Act>
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
  const submit = (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault()
    const form = new FormData(event.currentTarget)
    const [until, type] = [isoOf(fieldOf(form, 'until')), fieldOf(form, 'type')]
    onSubmit({
      since: isoOf(fieldOf(form, 'since')),
      ...(until && { until }),
      ...(type && { event_types: [type] }),
    })
  }
  return (
    <form onSubmit={submit}>
      <p className="quiet">After an outage: each delivery that failed is sent once more, behind fresh events.</p>
      <div className="filters">
        <label>
          Failed since
          <input name="since" type="datetime-local" required />
        </label>
        <label>
          Until
          <input name="until" type="datetime-local" />
        </label>
        <label>
          Event
          <select name="type">
            <option value="">any</option>
            {types.map((type) => (
              <option key={type}>{type}</option>
            ))}
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
    </form>
  )
}
