import { useQuery } from '@tanstack/react-query'
import { Link, useNavigate, useParams } from '@tanstack/react-router'
import { api, bodyOf, type components } from '../api/client.ts'
import { useAction } from '../parts/action.tsx'
import { Page } from '../parts/page.tsx'
import { EndpointForm } from './endpoint-form.tsx'
import { endpointOf, shortUrl } from './endpoints.ts'

/** Changes an endpoint. What others have changed meanwhile in other members stays. */
export function EditEndpointPage() {
  const { endpoint: id } = useParams({ from: '/endpoints/$endpoint/edit' })
  const navigate = useNavigate()
  const found = useQuery(endpointOf(id))
  const save = useAction(
    async (body: components['schemas']['WebhookEndpointUpdate']) =>
      Object.keys(body).length > 0 && bodyOf(api.PUT('/v1/webhooks/{id}', { params: { path: { id } }, body })),
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
      of={found}
    >
      {(read) => (
        <EndpointForm
          initial={read}
          submit="Save"
          isBusy={save.isPending}
          refusal={save.error}
          onSubmit={(_, changed) => save.mutate(changed)}
        />
      )}
    </Page>
  )
}
