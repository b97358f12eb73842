import { Link } from '@tanstack/react-router'
import { api, bodyOf, type components } from '../api/client.ts'
import { List, useList } from '../parts/list.tsx'
import { Empty, Page } from '../parts/page.tsx'
import type { Column } from '../parts/table.tsx'
import { Badge, Long, Time } from '../parts/text.tsx'
import { useCan } from '../session/session.ts'
import { isMoving } from './states.ts'
import { templateName } from './templates.ts'

type Import = components['schemas']['Import']

const COLUMNS: readonly Column<Import>[] = [
  {
    head: 'File',
    cell: ({ id, file }) => (
      <Link to="/imports/$id" params={{ id }}>
        <Long text={file} isCut />
      </Link>
    ),
  },
  { head: 'What', cell: ({ template }) => templateName(template) },
  { head: 'State', cell: ({ status }) => <Badge state={status} /> },
  { head: 'Rows', cell: ({ total_rows }) => total_rows.toLocaleString(), isNumber: true },
  { head: 'Applied', cell: ({ processed_rows }) => processed_rows.toLocaleString(), isNumber: true },
  { head: 'Uploaded', cell: ({ created_at }) => <Time at={created_at} /> },
]

/** The imports of the workspace, newest first. While one is under way, they are read again and again. */
export function ImportsPage() {
  const can = useCan()
  const imports = useList(
    ['imports', 'list'],
    (query) => bodyOf(api.GET('/v1/imports', { params: { query } })),
    ({ items }) => items.some(isMoving),
  )
  const upload = can('import::create') && (
    <Link to="/imports/new" className="button primary">
      Import a file
    </Link>
  )
  return (
    <Page title="Imports" actions={upload}>
      <List
        of={imports}
        label="Imports"
        columns={COLUMNS}
        empty={
          <Empty title="No imports in the last 30 days">
            Bring products, stock, customers and more here from a CSV file. Nothing changes before you say so.
          </Empty>
        }
      />
    </Page>
  )
}
