import { type FormEvent, useState } from 'react'
import { api, bodyOf } from '../api/client.ts'
import { Act, useAction } from '../parts/action.tsx'
import { Dialog } from '../parts/dialog.tsx'
import { useEventTypes } from './endpoints.ts'

const DONE = { changes: ['endpoints', 'deliveries'] }

/** Sends a `webhook.ping`. */
export function SendPing({ endpoint: id }: { readonly endpoint: string }) {
  const ping = useAction(() => bodyOf(api.POST('/v1/webhooks/{id}/ping', { params: { path: { id } } })), {
    ...DONE,
    done: 'A ping is sent. Its delivery shows what the endpoint answers.',
  })
  return (
    <Act needs="webhook::create" isBusy={ping.isPending} onAct={() => ping.mutate()}>
      Send a ping
    </Act>
  )
}

/** Sends the example of an event, which no resource is behind. */
export function SendTest({ endpoint: id }: { readonly endpoint: string }) {
  const [isOpen, setIsOpen] = useState(false)
  const types = useEventTypes()
  const test = useAction(
    (event_type: string) =>
      bodyOf(api.POST('/v1/webhooks/{id}/test', { params: { path: { id } }, body: { event_type } })),
    { ...DONE, done: ({ event_type }) => `An example of ${event_type} is sent.`, onDone: () => setIsOpen(false) },
  )
  const submit = (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault()
    test.mutate(String(new FormData(event.currentTarget).get('type')))
  }
  return (
    <>
      <Act needs="webhook::create" onAct={() => setIsOpen(true)}>
        Send a test event…
      </Act>
      {isOpen && (
        <Dialog title="Send a test event" onClose={() => setIsOpen(false)}>
          <form onSubmit={submit}>
            <label>
              Event
              <select name="type" defaultValue="order.paid">
                {types.map((type) => (
                  <option key={type}>{type}</option>
                ))}
              </select>
            </label>
            <p className="quiet">
              The endpoint gets an example, signed as every event, with livemode false. What it tells of does not exist.
            </p>
            <div className="actions">
              <button type="button" onClick={() => setIsOpen(false)}>
                Cancel
              </button>
              <button type="submit" className="primary" disabled={test.isPending}>
                Send
              </button>
            </div>
          </form>
        </Dialog>
      )}
    </>
  )
}
