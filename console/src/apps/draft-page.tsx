import { useQuery } from '@tanstack/react-query'
import { Link, useNavigate, useParams } from '@tanstack/react-router'
import { api, bodyOf } from '../api/client.ts'
import { ApiAct } from '../parts/action.tsx'
import { FormButton } from '../parts/form-dialog.tsx'
import { Facts, Page, Section } from '../parts/page.tsx'
import { ScopeBoxes, Scopes, scopesOf } from '../parts/scopes.tsx'
import { Badge, Id, Long, nameIn, Time } from '../parts/text.tsx'

const PENDING_MS = 2_000

/** One draft of an app in a sandbox, and how far its installation is. */
export function DraftPage() {
  const { draft: id } = useParams({ from: '/apps/drafts/$draft' })
  const path = { params: { path: { id } } }
  const navigate = useNavigate()
  const found = useQuery({
    queryKey: ['apps', 'drafts', id],
    queryFn: () => bodyOf(api.GET('/v1/sandbox/apps/{id}', path)),
    refetchInterval: ({ state }) => (state.data?.installation?.state === 'PENDING' ? PENDING_MS : false),
  })
  const name = found.data?.name.slice(0, 100) ?? 'Draft'
  return (
    <Page
      title={name}
      above={<Link to="/apps">Apps</Link>}
      actions={
        found.data && (
          <>
            <FormButton
              needs="app::create"
              className="primary"
              title="Install"
              submit="Install"
              done="The app is asked now."
              changes={['apps']}
              send={(form) =>
                bodyOf(api.POST('/v1/sandbox/apps/{id}/install', { ...path, body: { scopes: scopesOf(form) } }))
              }
            >
              <ScopeBoxes legend="It may do in this sandbox" scopes={found.data.scopes} areChosen />
            </FormButton>
            <ApiAct
              needs="app::delete"
              className="danger"
              question={`Delete ${nameIn(name)}? It is uninstalled, too.`}
              act={() => bodyOf(api.DELETE('/v1/sandbox/apps/{id}', path))}
              done="The draft is deleted."
              changes={['apps']}
              onDone={() => navigate({ to: '/apps' })}
            >
              Delete
            </ApiAct>
          </>
        )
      }
      of={found}
    >
      {({ provider, origin, audience, version, scopes, webhooks, updated_at, installation }) => (
        <>
          <Section title="Draft">
            <Facts
              of={{
                Origin: <Long text={origin} />,
                Provider: provider,
                'Audience of its tokens': <Long text={audience} />,
                Manifest: `version ${version}`,
                Changed: <Time at={updated_at} />,
                'Asks for': <Scopes of={scopes} />,
                'Is told of': <Scopes of={webhooks?.events ?? []} />,
              }}
            />
          </Section>
          <Section title="Installation">
            {installation === null ? (
              <p className="quiet">The draft is not installed in this sandbox.</p>
            ) : (
              <Facts
                of={{
                  State: <Badge state={installation.state} />,
                  Installation: <Id id={installation.id} />,
                  'May do': <Scopes of={installation.scopes} />,
                  'Last error': installation.last_error && <Long text={installation.last_error} />,
                }}
              />
            )}
          </Section>
        </>
      )}
    </Page>
  )
}
