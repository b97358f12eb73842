import { keepPreviousData, useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { api, bodyOf, type components } from '../api/client.ts'
import { Empty } from '../parts/answer.tsx'
import { Badge } from '../parts/badge.tsx'
import { useFilters } from '../parts/filters.tsx'
import { List } from '../parts/list.tsx'
import { Page } from '../parts/page.tsx'
import type { Column } from '../parts/table.tsx'
import { Time } from '../parts/text.tsx'
import { useCan } from '../session/session.ts'
import { isMoving } from './states.ts'
import { templateName } from './templates.ts'

type Import = components['schemas']['Import']

const LIVE_MS = 2_000

const COLUMNS: readonly Column<Import>[] = [
  {
    head: 'File',
    cell: ({ id, file }) => (
      <Link to="/imports/$id" params={{ id }}>
        {file}
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
  const [search] = useFilters()
  const can = useCan()
  const imports = useQuery({
    queryKey: ['imports', 'list', search],
    queryFn: () => bodyOf(api.GET('/v1/imports', { params: { query: search } })),
    placeholderData: keepPreviousData,
    refetchInterval: ({ state }) => (state.data?.items.some(isMoving) ? LIVE_MS : false),
  })
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
            <p>Bring products, stock, customers and more here from a CSV file. Nothing changes before you say so.</p>
          </Empty>
        }
      />
    </Page>
  )
}
