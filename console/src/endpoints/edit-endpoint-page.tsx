import { useQuery } from '@tanstack/react-query'
import { Link, useNavigate, useParams } from '@tanstack/react-router'
import { api, bodyOf, type components } from '../api/client.ts'
import { useAction } from '../parts/action.tsx'
import { Answer } from '../parts/answer.tsx'
import { Page } from '../parts/page.tsx'
import { EndpointForm } from './endpoint-form.tsx'
import { endpointOf, shortUrl } from './endpoints.ts'

/** Changes an endpoint. */
export function EditEndpointPage() {
  const { endpoint: id } = useParams({ from: '/endpoints/$endpoint/edit' })
  const navigate = useNavigate()
  const found = useQuery({ ...endpointOf(id), refetchOnWindowFocus: false })
  const save = useAction(
    (body: components['schemas']['WebhookEndpointUpdate']) =>
      bodyOf(api.PUT('/v1/webhooks/{id}', { params: { path: { id } }, body })),
    {
      done: 'The endpoint is saved.',
      changes: ['endpoints'],
      onDone: () => navigate({ to: '/endpoints/$endpoint', params: { endpoint: id } }),
    },
  )
  return (
    <Page
      title="Edit the endpoint"
      above={
        <Link to="/endpoints/$endpoint" params={{ endpoint: id }}>
          {found.data ? shortUrl(found.data.url) : 'Endpoint'}
        </Link>
      }
    >
      <Answer of={found}>
        {({ url, enabled_events, description, standard_signature }) => (
          <EndpointForm
            initial={{ url, enabled_events, description, standard_signature }}
            submit="Save"
            isBusy={save.isPending}
            refusal={save.error}
            onSubmit={save.mutate}
          />
        )}
      </Answer>
    </Page>
  )
}
