import { useState } from 'react'
import { admin, bodyOf, saveFile } from '../../api/client.ts'
import { Act, counted, useAction } from '../../parts/action.tsx'
import { Filters, Moment, type Search, useFilters, Words } from '../../parts/filters.tsx'
import { List, useList } from '../../parts/list.tsx'
import { Empty, Page } from '../../parts/page.tsx'
import type { Column } from '../../parts/table.tsx'
import { Badge, Id, Long, Time } from '../../parts/text.tsx'
import { WorkspaceLink } from '../workspace-link.tsx'
import { csvOf } from './audit-csv.ts'

const readPage = (query: Search) => bodyOf(admin.GET('/admin/v1/audit', { params: { query } }))
type Entry = Awaited<ReturnType<typeof readPage>>['items'][number]

const MOST_EXPORTED = 10_000
const PAGE_SIZE = 100
/** Without it spreadsheets misread letters beyond ASCII. */
const BYTE_ORDER_MARK = '\ufeff'
const CSV_COLUMNS = ['at', 'who', 'actor', 'action', 'target', 'reason', 'request_id', 'session_id', 'id'] as const

const COLUMNS: readonly Column<Entry>[] = [
  { head: 'At', cell: ({ at }) => <Time at={at} /> },
  {
    head: 'Who',
    cell: ({ who, actor }) => (
      <span>
        {who && who !== actor && <Badge state={who} tone="plain" />} <Long text={actor} most={60} />
      </span>
    ),
  },
  { head: 'Action', cell: ({ action }) => action, isShort: true },
  { head: 'Target', cell: ({ target }) => <Target of={target} /> },
  { head: 'Reason', cell: ({ reason }) => (reason ? <Long text={reason} /> : '–') },
  { head: 'Request', cell: ({ request_id }) => <Id id={request_id} />, isShort: true },
]

/** Who did what on the platform, newest first. */
export function AuditPage() {
  const entries = useList(['operators', 'audit'], readPage)
  return (
    <Page title="Audit" actions={<Export />}>
      <Filters>
        <Words label="Actor" name="actor" placeholder="ada" />
        <Words label="Action" name="action" placeholder="key.created" />
        <Words label="Target" name="target" placeholder="keys/…" />
        <Words label="Workspace id" name="workspace" />
        <Words label="Support session" name="session" />
        <Moment label="Since" name="since" />
        <Moment label="Until" name="until" />
      </Filters>
      <List
        of={entries}
        label="Audit entries"
        columns={COLUMNS}
        empty={<Empty title="No entries">Nothing fits these filters. Each of them has to be written whole.</Empty>}
      />
    </Page>
  )
}

/** What it was done to: `keys/0198c7a0-…`, or the request of a session of support. */
function Target({ of: target }: { readonly of: string }) {
  const [, resource = '', id] = /^([a-z-]+)\/([0-9a-f-]{36})$/.exec(target) ?? []
  if (id === undefined) return <Long text={target} most={80} />
  if (resource === 'workspaces') return <WorkspaceLink id={id}>workspaces/{id.slice(-8)}</WorkspaceLink>
  return (
    <span className="short">
      {resource}/<Id id={id} />
    </span>
  )
}

/** Saves what the filters find as CSV. */
function Export() {
  const [{ after: _after, ...filters }] = useFilters()
  const [read, setRead] = useState(0)
  const save = useAction(
    async () => {
      const { entries, isAll } = await readAll(filters, setRead)
      saveFile(new Blob([BYTE_ORDER_MARK, csvOf(CSV_COLUMNS, entries)], { type: 'text/csv' }), 'audit.csv')
      return { saved: entries.length, isAll }
    },
    {
      done: ({ saved, isAll }) =>
        `${counted(saved, 'entry', 'entries')} in audit.csv.${isAll ? '' : ' There are more: choose a shorter time.'}`,
    },
  )
  return (
    <Act disabled={save.isPending} onAct={() => save.mutate()}>
      {save.isPending ? `${read.toLocaleString()} read…` : 'Export as CSV'}
    </Act>
  )
}

async function readAll(filters: Search, onRead: (count: number) => void) {
  const entries: Entry[] = []
  for (;;) {
    const last = entries.at(-1)
    const page = await readPage({ ...filters, limit: String(PAGE_SIZE), ...(last && { after: last.id }) })
    entries.push(...page.items)
    onRead(entries.length)
    if (!page.has_next_page || page.items.length === 0) return { entries, isAll: true }
    if (entries.length >= MOST_EXPORTED) return { entries, isAll: false }
  }
}
