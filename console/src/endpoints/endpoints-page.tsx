import { keepPreviousData, useQueries, useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { api, bodyOf } from '../api/client.ts'
import { Answer, Empty } from '../parts/answer.tsx'
import { Pager, pagerOf, useFilters } from '../parts/filters.tsx'
import { Page } from '../parts/page.tsx'
import { type Column, Table } from '../parts/table.tsx'
import { Time } from '../parts/text.tsx'
import { useCan } from '../session/session.ts'
import { type Endpoint, type EndpointStatus, eventsInWords, shortUrl, statusOf } from './endpoints.ts'
import { FailingSetting } from './failing-setting.tsx'
import { Health, millisecondsOf, percentOf } from './health.tsx'

interface Row extends Endpoint {
  /** Undefined until it is read. */
  readonly status: EndpointStatus | undefined
}

const COLUMNS: readonly Column<Row>[] = [
  {
    head: 'Endpoint',
    cell: ({ id, url }) => (
      <Link to="/endpoints/$endpoint" params={{ endpoint: id }} title={url}>
        {shortUrl(url)}
      </Link>
    ),
  },
  { head: 'Health', cell: ({ status }) => <Health of={status} /> },
  { head: 'Success, 24 h', cell: ({ status }) => percentOf(status?.success_rate_24h), isNumber: true },
  { head: '95 % within', cell: ({ status }) => millisecondsOf(status?.p95_ms), isNumber: true },
  { head: 'Oldest pending', cell: ({ status }) => <Time at={status?.oldest_pending} /> },
  { head: 'Events', cell: ({ enabled_events }) => eventsInWords(enabled_events) },
  { head: 'Of', cell: ({ status }) => status?.app ?? <span className="quiet">you</span> },
]

/** The endpoints of the workspace and of its apps, with how each takes its deliveries. */
export function EndpointsPage() {
  const [search] = useFilters()
  const endpoints = useQuery({
    queryKey: ['endpoints', 'list', search],
    queryFn: () => bodyOf(api.GET('/v1/webhooks', { params: { query: search } })),
    placeholderData: keepPreviousData,
  })
  const items = endpoints.data?.items ?? []
  const statuses = useQueries({ queries: items.map(({ id }) => statusOf(id)) })
  const rows = items.map((endpoint, place) => ({ ...endpoint, status: statuses[place]?.data }))
  return (
    <Page title="Endpoints" actions={<AddEndpoint />}>
      <Answer of={endpoints}>
        {(page) =>
          page.total === 0 ? (
            <Empty title="No endpoint yet">
              <p>
                An endpoint is a URL of yours. Changes of the workspace, such as a paid order, are sent to it at once.
              </p>
            </Empty>
          ) : (
            <>
              <Table label="Endpoints" rows={rows} keyOf={({ id }) => id} columns={COLUMNS} />
              <Pager {...pagerOf(page)} />
            </>
          )
        }
      </Answer>
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
