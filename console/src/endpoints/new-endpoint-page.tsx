import { Link } from '@tanstack/react-router'
import { api, bodyOf } from '../api/client.ts'
import { useAction } from '../parts/action.tsx'
import { Copy } from '../parts/copy.tsx'
import { Page, Section } from '../parts/page.tsx'
import { EndpointForm } from './endpoint-form.tsx'
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
          <div className="notice">
            <h2>Copy the signing secret now</h2>
            <p>It is shown only this once. Your server checks with it that a delivery comes from here.</p>
            <code className="long">{made.secret}</code>
            <Copy text={made.secret} done="The secret is copied.">
              Copy the secret
            </Copy>
          </div>
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
          onSubmit={(input) => create.mutate(input)}
        />
      )}
    </Page>
  )
}
