import { useState } from 'react'
import type { components } from '../api/client.ts'
import { FormEnd, fieldOf, submitted } from '../parts/form-dialog.tsx'
import { EventPicker } from './event-picker.tsx'

type Input = components['schemas']['WebhookEndpointInput']

interface EndpointFormProps {
  readonly initial: Input
  /** What the button says. */
  readonly submit: string
  readonly isBusy: boolean
  /** What the API refused. */
  readonly refusal: unknown
  /** `changed` has the members that differ from what the form began with. */
  readonly onSubmit: (input: Input, changed: Partial<Input>) => void
}

/** The members of an endpoint that somebody sets. */
export function EndpointForm({ initial, submit, isBusy, refusal, onSubmit }: EndpointFormProps) {
  const [begun] = useState(initial)
  const [events, setEvents] = useState<readonly string[]>(begun.enabled_events)
  const send = submitted((form) => {
    const input: Input = {
      url: fieldOf(form, 'url'),
      description: fieldOf(form, 'description') || null,
      standard_signature: form.has('standard_signature'),
      enabled_events: [...events],
    }
    const isChanged = (name: keyof Input) => JSON.stringify(input[name]) !== JSON.stringify(begun[name])
    const changed = Object.entries(input).filter(([name]) => isChanged(name as keyof Input))
    onSubmit(input, Object.fromEntries(changed))
  })
  return (
    <form className="card" onSubmit={send}>
      <label>
        URL
        <input
          name="url"
          type="url"
          required
          maxLength={2048}
          defaultValue={begun.url}
          placeholder="https://shop.example.com/webhooks"
        />
      </label>
      <label>
        Description
        <input name="description" maxLength={65_536} defaultValue={begun.description ?? ''} placeholder="Stock sync" />
      </label>
      <EventPicker value={events} onChange={setEvents} />
      <label className="check">
        <input name="standard_signature" type="checkbox" defaultChecked={begun.standard_signature} />
        Sign for the libraries of Standard Webhooks, too
      </label>
      <FormEnd submit={submit} isBusy={isBusy} disabled={events.length === 0} refusal={refusal} />
    </form>
  )
}
