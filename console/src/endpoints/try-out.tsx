import { api, bodyOf } from '../api/client.ts'
import { ApiAct } from '../parts/action.tsx'
import { Options } from '../parts/filters.tsx'
import { FormButton, fieldOf } from '../parts/form-dialog.tsx'
import { Unread } from '../parts/page.tsx'
import { useEventTypes } from './endpoints.ts'

const DONE = { changes: ['endpoints', 'deliveries'] }

/** Sends a `webhook.ping`. */
export const SendPing = ({ endpoint: id }: { readonly endpoint: string }) => (
  <ApiAct
    needs="webhook::create"
    act={() => bodyOf(api.POST('/v1/webhooks/{id}/ping', { params: { path: { id } } }))}
    {...DONE}
    done="A ping is sent. Its delivery shows what the endpoint answers."
  >
    Send a ping
  </ApiAct>
)

/** Sends the example of an event, which no resource is behind. */
export function SendTest({ endpoint: id }: { readonly endpoint: string }) {
  return (
    <FormButton
      needs="webhook::create"
      title="Send a test event"
      submit="Send"
      {...DONE}
      done="The example is sent."
      send={(form) => {
        const body = { event_type: fieldOf(form, 'type') }
        return bodyOf(api.POST('/v1/webhooks/{id}/test', { params: { path: { id } }, body }))
      }}
    >
      <EventChoice />
      <p className="quiet">
        The endpoint gets an example, signed as every event, with livemode false. What it tells of does not exist.
      </p>
    </FormButton>
  )
}

const EXAMPLE = 'order.paid'

function EventChoice() {
  const types = useEventTypes()
  return (
    <>
      <label>
        Event
        <select name="type" defaultValue={EXAMPLE}>
          <Options of={(types.data ?? [EXAMPLE]).map((type) => [type, type])} />
        </select>
      </label>
      <Unread of={types} />
    </>
  )
}
