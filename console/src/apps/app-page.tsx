import { useQuery } from '@tanstack/react-query'
import { Link, useNavigate, useParams } from '@tanstack/react-router'
import { api, bodyOf } from '../api/client.ts'
import { ApiAct } from '../parts/action.tsx'
import { Facts, Page, Section } from '../parts/page.tsx'
import { Scopes } from '../parts/scopes.tsx'
import { Badge, Long, nameIn, Time } from '../parts/text.tsx'

const PENDING_MS = 2_000

/** One app: what it may do, what it is told of, and its removal. */
export function AppPage() {
  const { provider } = useParams({ from: '/apps/$provider' })
  const path = { params: { path: { provider } } }
  const navigate = useNavigate()
  const found = useQuery({
    queryKey: ['apps', 'one', provider],
    queryFn: () => bodyOf(api.GET('/v1/apps/{provider}', path)),
    refetchInterval: ({ state }) => (state.data?.state === 'PENDING' ? PENDING_MS : false),
  })
  const name = found.data?.name.slice(0, 100) ?? 'App'
  return (
    <Page
      title={name}
      above={<Link to="/apps">Apps</Link>}
      actions={
        found.data && (
          <ApiAct
            needs="app::delete"
            className="danger"
            question={`Remove ${nameIn(name)}? It loses its access and its webhooks at once.`}
            act={() => bodyOf(api.DELETE('/v1/apps/{provider}', path))}
            done="The app is removed. Its keys work no more."
            changes={['apps']}
            onDone={() => navigate({ to: '/apps' })}
          >
            Remove
          </ApiAct>
        )
      }
      of={found}
    >
      {({ state, scopes, requested_scopes, webhooks, checkout, last_error, created_at, activated_at }) => (
        <>
          <Section title="App">
            <Facts
              of={{
                State: <Badge state={state} />,
                Provider: provider,
                'May do': <Scopes of={scopes} />,
                'Asks for more': requested_scopes.length > 0 && <Scopes of={requested_scopes} />,
                'Last error': last_error && <Long text={last_error} />,
                Checkout: checkout && 'takes payments of orders',
                Installed: <Time at={created_at} />,
                'Active since': activated_at && <Time at={activated_at} />,
              }}
            />
            {state === 'PENDING' && <p className="quiet">The app has not answered yet. It is asked again by itself.</p>}
          </Section>
          <Section
            title="Events it is told of"
            actions={
              <Link className="button" to="/deliveries" search={{ app: provider }}>
                Deliveries
              </Link>
            }
          >
            <Scopes of={webhooks?.events ?? []} />
          </Section>
        </>
      )}
    </Page>
  )
}
