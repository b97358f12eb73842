import { Link } from '@tanstack/react-router'
import { api, bodyOf, type components } from '../api/client.ts'
import { List, useList } from '../parts/list.tsx'
import { Empty, Page } from '../parts/page.tsx'
import { Scopes } from '../parts/scopes.tsx'
import type { Column } from '../parts/table.tsx'
import { Badge, Long, Time } from '../parts/text.tsx'
import { useWorkspaceSession } from '../session/session.ts'
import { Drafts } from './drafts.tsx'
import { ResetSandbox } from './reset-sandbox.tsx'

type App = components['schemas']['App']

const COLUMNS: readonly Column<App>[] = [
  {
    head: 'App',
    cell: ({ provider, name }) => (
      <Link to="/apps/$provider" params={{ provider }}>
        <Long text={name} isCut />
      </Link>
    ),
  },
  { head: 'State', cell: ({ state }) => <Badge state={state} /> },
  { head: 'May do', cell: ({ scopes }) => <Scopes of={scopes} /> },
  { head: 'Asks for more', cell: ({ requested_scopes }) => <Scopes of={requested_scopes} /> },
  { head: 'Last error', cell: ({ last_error }) => <Long text={last_error ?? ''} isCut /> },
  { head: 'Active since', cell: ({ activated_at }) => <Time at={activated_at} /> },
]

/** The apps of the workspace; in a sandbox also drafts of apps, and the way to an empty sandbox. */
export function AppsPage() {
  const { livemode } = useWorkspaceSession().workspace
  const apps = useList(['apps'], (query) => bodyOf(api.GET('/v1/apps', { params: { query } })))
  return (
    <Page title="Apps">
      <List
        of={apps}
        label="Apps"
        columns={COLUMNS}
        empty={
          <Empty title="No apps">
            The platform installs apps here, such as payment providers, once you have agreed to what they may do.
          </Empty>
        }
      />
      {!livemode && <Drafts />}
      {!livemode && <ResetSandbox />}
    </Page>
  )
}
