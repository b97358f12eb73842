import { useQuery } from '@tanstack/react-query'
import { admin, bodyOf } from '../../api/client.ts'
import { Act, useAction } from '../../parts/action.tsx'
import { Answer } from '../../parts/answer.tsx'
import { Badge } from '../../parts/badge.tsx'
import { Section } from '../../parts/page.tsx'
import { Scopes } from '../../parts/scopes.tsx'
import { Table } from '../../parts/table.tsx'
import { Long, nameIn, Time } from '../../parts/text.tsx'

const MOST = 100

/** The apps of a workspace, with what went wrong when they were last called. */
export function Installations({ workspace: id }: { readonly workspace: string }) {
  const installations = useQuery({
    queryKey: ['operators', 'installations', id],
    queryFn: () =>
      bodyOf(
        admin.GET('/admin/v1/workspaces/{id}/installations', { params: { path: { id }, query: { limit: MOST } } }),
      ),
  })
  return (
    <Section title="Apps">
      <Answer of={installations}>
        {({ items }) =>
          items.length === 0 ? (
            <p className="quiet">The workspace has no app.</p>
          ) : (
            <Table
              label="Apps"
              rows={items}
              keyOf={(one) => one.id}
              columns={[
                { head: 'App', cell: ({ name }) => <Long text={name} most={60} /> },
                { head: 'State', cell: ({ state }) => <Badge state={state} /> },
                { head: 'May do', cell: ({ scopes }) => <Scopes of={scopes} /> },
                { head: 'Active since', cell: ({ activated_at }) => <Time at={activated_at} /> },
                { head: 'Last error', cell: ({ last_error }) => (last_error ? <Long text={last_error} /> : '–') },
                {
                  head: 'Change',
                  cell: ({ id: installation, name, state }) =>
                    state === 'UNINSTALLED' ? '–' : <InstallationActs id={installation} name={name} state={state} />,
                },
              ]}
            />
          )
        }
      </Answer>
    </Section>
  )
}

interface InstallationActsProps {
  readonly id: string
  readonly name: string
  readonly state: string
}

function InstallationActs({ id, name, state }: InstallationActsProps) {
  const path = { params: { path: { id } } }
  const provision = useAction(
    () => bodyOf(admin.POST('/admin/v1/installations/{id}/provision', { ...path, body: {} })),
    { done: 'The app gets a new key and a new endpoint.', changes: ['operators'] },
  )
  const uninstall = useAction(() => bodyOf(admin.DELETE('/admin/v1/installations/{id}', path)), {
    done: 'The app is uninstalled. It has no access any more.',
    changes: ['operators'],
  })
  return (
    <span className="actions">
      {state === 'ACTIVE' && (
        <Act
          isBusy={provision.isPending}
          question={`Give ${nameIn(name)} a new key and a new endpoint?`}
          onAct={() => provision.mutate()}
        >
          Provision again
        </Act>
      )}
      <Act
        className="danger"
        isBusy={uninstall.isPending}
        question={`Uninstall ${nameIn(name)}? It loses its access and its webhooks at once.`}
        onAct={() => uninstall.mutate()}
      >
        Uninstall
      </Act>
    </span>
  )
}
