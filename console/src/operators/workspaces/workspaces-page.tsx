import { Link, useNavigate } from '@tanstack/react-router'
import { useState } from 'react'
import { admin, bodyOf } from '../../api/client.ts'
import { Empty } from '../../parts/answer.tsx'
import { Badge } from '../../parts/badge.tsx'
import { Filters, Words } from '../../parts/filters.tsx'
import { FormDialog, fieldOf } from '../../parts/form-dialog.tsx'
import { List, useList } from '../../parts/list.tsx'
import { Page } from '../../parts/page.tsx'
import type { Column } from '../../parts/table.tsx'
import { Id, Long } from '../../parts/text.tsx'

interface Workspace {
  readonly id: string
  readonly name: string
  readonly domain: string | null
  readonly sandbox: { readonly id: string } | null
  readonly status: string
}

const COLUMNS: readonly Column<Workspace>[] = [
  {
    head: 'Workspace',
    cell: ({ id, name }) => (
      <Link to="/operators/workspaces/$workspace" params={{ workspace: id }}>
        <Long text={name} most={80} isCut />
      </Link>
    ),
  },
  { head: 'State', cell: ({ status }) => <Badge state={status} /> },
  { head: 'Domain', cell: ({ domain }) => domain ?? '–' },
  {
    head: 'Sandbox',
    cell: ({ sandbox }) =>
      sandbox ? (
        <Link to="/operators/workspaces/$workspace" params={{ workspace: sandbox.id }}>
          Sandbox
        </Link>
      ) : (
        '–'
      ),
  },
  { head: 'Id', cell: ({ id }) => <Id id={id} /> },
]

/** The workspaces of the platform, with a search. */
export function WorkspacesPage() {
  const [isNew, setIsNew] = useState(false)
  const workspaces = useList(['operators', 'workspaces'], (query) =>
    bodyOf(admin.GET('/admin/v1/workspaces', { params: { query } })),
  )
  return (
    <Page
      title="Workspaces"
      actions={
        <button type="button" className="primary" onClick={() => setIsNew(true)}>
          New workspace
        </button>
      }
    >
      <Filters>
        <Words label="Search" name="query" placeholder="Name or domain" />
      </Filters>
      <List of={workspaces} label="Workspaces" columns={COLUMNS} empty={<Empty title="No workspaces" />} />
      {isNew && <NewWorkspace onClose={() => setIsNew(false)} />}
    </Page>
  )
}

function NewWorkspace({ onClose }: { readonly onClose: () => void }) {
  const navigate = useNavigate()
  return (
    <FormDialog
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
      onClose={onClose}
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
    </FormDialog>
  )
}
