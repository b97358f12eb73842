import { useQuery } from '@tanstack/react-query'
import { Link, useNavigate, useParams } from '@tanstack/react-router'
import { api, bodyOf } from '../api/client.ts'
import { Unsaved } from '../parts/dialog.tsx'
import { EditForm } from '../parts/edit.tsx'
import { Page } from '../parts/page.tsx'
import { fieldsOf, membersOf } from './endpoint-members.tsx'
import { endpointOf, readEndpoint, shortUrl } from './endpoints.ts'

/** Changes an endpoint. */
export function EditEndpointPage() {
  const { endpoint: id } = useParams({ from: '/endpoints/$endpoint/edit' })
  const navigate = useNavigate()
  const found = useQuery(endpointOf(id))
  return (
    <Page
      title="Edit the endpoint"
      above={
        <Link to="/endpoints/$endpoint" params={{ endpoint: id }}>
          {found.data ? shortUrl(found.data.body.url) : 'Endpoint'}
        </Link>
      }
      of={found}
    >
      {(read) => (
        <Unsaved>
          <div className="card">
            <EditForm
              of={read}
              fieldsOf={fieldsOf}
              read={() => readEndpoint(id)}
              save={async ({ changed }, tag) => {
                const headers = { 'if-match': tag }
                const body = membersOf(changed)
                return bodyOf(api.PUT('/v1/webhooks/{id}', { params: { path: { id } }, headers, body }))
              }}
              done="The endpoint is saved."
              changes={['endpoints']}
              onDone={() =>
                navigate({ to: '/endpoints/$endpoint', params: { endpoint: id }, replace: true, ignoreBlocker: true })
              }
            />
          </div>
        </Unsaved>
      )}
    </Page>
  )
}
