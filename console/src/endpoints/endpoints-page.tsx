import { useQueries } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { api, bodyOf } from '../api/client.ts'
import { List, useList } from '../parts/list.tsx'
import { Empty, Page } from '../parts/page.tsx'
import type { Column } from '../parts/table.tsx'
import { Time } from '../parts/text.tsx'
import { useCan } from '../session/session.ts'
import { type Endpoint, type EndpointStatus, eventsInWords, shortUrl, statusOf } from './endpoints.ts'
import { FailingSetting } from './failing-setting.tsx'
import { Health, millisecondsOf, percentOf } from './health.tsx'

/** A status is undefined until it is read. */
const columnsWith = (statuses: ReadonlyMap<string, EndpointStatus | undefined>): readonly Column<Endpoint>[] => [
  {
    head: 'Endpoint',
    cell: ({ id, url }) => (
      <Link to="/endpoints/$endpoint" params={{ endpoint: id }} title={url}>
        {shortUrl(url)}
      </Link>
    ),
  },
  { head: 'Health', cell: ({ id }) => <Health of={statuses.get(id)} /> },
  { head: 'Success, 24 h', cell: ({ id }) => percentOf(statuses.get(id)?.success_rate_24h), isNumber: true },
  { head: '95 % within', cell: ({ id }) => millisecondsOf(statuses.get(id)?.p95_ms), isNumber: true },
  { head: 'Oldest pending', cell: ({ id }) => <Time at={statuses.get(id)?.oldest_pending} /> },
  { head: 'Events', cell: ({ enabled_events }) => eventsInWords(enabled_events) },
  { head: 'Of', cell: ({ id }) => statuses.get(id)?.app ?? <span className="quiet">you</span> },
]

/** The endpoints of the workspace and of its apps, with how each takes its deliveries. */
export function EndpointsPage() {
  const endpoints = useList(['endpoints', 'list'], (query) => bodyOf(api.GET('/v1/webhooks', { params: { query } })))
  const items = endpoints.data?.items ?? []
  const statuses = useQueries({ queries: items.map(({ id }) => statusOf(id)) })
  return (
    <Page title="Endpoints" actions={<AddEndpoint />}>
      <List
        of={endpoints}
        label="Endpoints"
        columns={columnsWith(new Map(items.map(({ id }, place) => [id, statuses[place]?.data])))}
        empty={
          <Empty title="No endpoint yet">
            An endpoint is a URL of yours. Changes of the workspace, such as a paid order, are sent to it at once.
          </Empty>
        }
      />
      <FailingSetting />
    </Page>
  )
}

function AddEndpoint() {
  const can = useCan()
  if (!can('webhook::create')) return null
  return (
    <Link to="/endpoints/new" className="button primary">
      Add an endpoint
    </Link>
  )
}
