import { useNavigate } from '@tanstack/react-router'
import { admin, bodyOf } from '../../api/client.ts'
import { Filters, Words } from '../../parts/filters.tsx'
import { FormButton, fieldOf } from '../../parts/form-dialog.tsx'
import { List, useList } from '../../parts/list.tsx'
import { Empty, Page } from '../../parts/page.tsx'
import { Badge, Id, Long } from '../../parts/text.tsx'
import { WorkspaceLink } from '../workspace-link.tsx'

/** The workspaces of the platform, with a search. */
export function WorkspacesPage() {
  const workspaces = useList(['operators', 'workspaces'], (query) =>
    bodyOf(admin.GET('/admin/v1/workspaces', { params: { query } })),
  )
  return (
    <Page title="Workspaces" actions={<NewWorkspace />}>
      <Filters>
        <Words label="Search" name="query" placeholder="Name or domain" />
      </Filters>
      <List
        of={workspaces}
        label="Workspaces"
        columns={[
          {
            head: 'Workspace',
            cell: ({ id, name }) => (
              <WorkspaceLink id={id}>
                <Long text={name} isCut />
              </WorkspaceLink>
            ),
          },
          { head: 'State', cell: ({ status }) => <Badge state={status} /> },
          { head: 'Domain', cell: ({ domain }) => domain ?? '–' },
          {
            head: 'Sandbox',
            cell: ({ sandbox }) => (sandbox ? <WorkspaceLink id={sandbox.id}>Sandbox</WorkspaceLink> : '–'),
          },
          { head: 'Id', cell: ({ id }) => <Id id={id} /> },
        ]}
        empty={<Empty title="No workspaces" />}
      />
    </Page>
  )
}

function NewWorkspace() {
  const navigate = useNavigate()
  return (
    <FormButton
      className="primary"
      title="New workspace"
      submit="Create"
      done="The workspace is there. Create a key for it next."
      changes={['operators']}
      send={(form) => {
        const domain = fieldOf(form, 'domain') || null
        const body = { name: fieldOf(form, 'name'), domain, sandbox: form.has('sandbox') }
        return bodyOf(admin.POST('/admin/v1/workspaces', { body }))
      }}
      onDone={({ id }) => navigate({ to: '/operators/workspaces/$workspace', params: { workspace: id } })}
    >
      <label>
        Name
        <input name="name" required maxLength={255} />
      </label>
      <label>
        Domain (may be left out)
        <input name="domain" placeholder="shop.example.com" />
      </label>
      <label className="check">
        <input type="checkbox" name="sandbox" defaultChecked />
        with a sandbox
      </label>
    </FormButton>
  )
}
