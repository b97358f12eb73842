import { Link } from '@tanstack/react-router'
import { api, bodyOf } from '../api/client.ts'
import { useAction } from '../parts/action.tsx'
import { Page, Section } from '../parts/page.tsx'
import { EndpointForm } from './endpoint-form.tsx'
import { ShownOnce } from './secret.tsx'
import { SendPing } from './try-out.tsx'

/** Makes an endpoint and shows its secret, once. */
export function NewEndpointPage() {
  const create = useAction(
    (body: Parameters<Parameters<typeof EndpointForm>[0]['onSubmit']>[0]) => bodyOf(api.POST('/v1/webhooks', { body })),
    { done: 'The endpoint is made.', changes: ['endpoints'] },
  )
  const made = create.data
  return (
    <Page title={made ? 'The endpoint is made' : 'Add an endpoint'} above={<Link to="/endpoints">Endpoints</Link>}>
      {made ? (
        <>
          <ShownOnce secret={made.secret} />
          <Section title="What now">
            <p>Put the secret in place, then send a ping: it arrives as every event does.</p>
            <div className="actions">
              <SendPing endpoint={made.id} />
              <Link to="/endpoints/$endpoint" params={{ endpoint: made.id }} className="button">
                To the endpoint
              </Link>
            </div>
          </Section>
        </>
      ) : (
        <EndpointForm
          initial={{ url: '', enabled_events: ['*'], description: null, standard_signature: false }}
          submit="Add"
          isBusy={create.isPending}
          refusal={create.error}
          onSubmit={create.mutate}
        />
      )}
    </Page>
  )
}
