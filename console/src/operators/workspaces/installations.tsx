import { admin, bodyOf } from '../../api/client.ts'
import { ApiAct } from '../../parts/action.tsx'
import { PartList } from '../../parts/list.tsx'
import { Section } from '../../parts/page.tsx'
import { Scopes } from '../../parts/scopes.tsx'
import { Badge, Long, nameIn, Time } from '../../parts/text.tsx'

/** The apps of a workspace, with what went wrong when they were last called. */
export const Installations = ({ workspace: id }: { readonly workspace: string }) => (
  <Section title="Apps">
    <PartList
      name={['operators', 'installations', id]}
      read={(query) =>
        bodyOf(admin.GET('/admin/v1/workspaces/{id}/installations', { params: { path: { id }, query } }))
      }
      label="Apps"
      columns={[
        { head: 'App', cell: ({ name }) => <Long text={name} most={60} /> },
        { head: 'State', cell: ({ state }) => <Badge state={state} /> },
        { head: 'May do', cell: ({ scopes }) => <Scopes of={scopes} /> },
        { head: 'Active since', cell: ({ activated_at }) => <Time at={activated_at} /> },
        { head: 'Last error', cell: ({ last_error }) => (last_error ? <Long text={last_error} /> : '–') },
        { head: 'Change', cell: (one) => (one.state === 'UNINSTALLED' ? '–' : <InstallationActs {...one} />) },
      ]}
      empty="The workspace has no app."
    />
  </Section>
)

interface InstallationActsProps {
  readonly id: string
  readonly name: string
  readonly state: string
}

function InstallationActs({ id, name, state }: InstallationActsProps) {
  const path = { params: { path: { id } } }
  return (
    <span className="actions">
      {state === 'ACTIVE' && (
        <ApiAct
          question={`Give ${nameIn(name)} a new key and a new endpoint?`}
          act={() => bodyOf(admin.POST('/admin/v1/installations/{id}/provision', { ...path, body: {} }))}
          done="The app gets a new key and a new endpoint."
          changes={['operators']}
        >
          Provision again
        </ApiAct>
      )}
      <ApiAct
        className="danger"
        question={`Uninstall ${nameIn(name)}? It loses its access and its webhooks at once.`}
        act={() => bodyOf(admin.DELETE('/admin/v1/installations/{id}', path))}
        done="The app is uninstalled. It has no access any more."
        changes={['operators']}
      >
        Uninstall
      </ApiAct>
    </span>
  )
}
