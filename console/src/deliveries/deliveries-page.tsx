import { keepPreviousData, useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { useState } from 'react'
import { hostOf, useAllEndpoints } from '../endpoints/endpoints.ts'
import { counted } from '../parts/action.tsx'
import { Pager, type Search, useFilters } from '../parts/filters.tsx'
import { useCalmRows, useIsRead } from '../parts/live.ts'
import { Answer, Empty, Page } from '../parts/page.tsx'
import { type Column, Table } from '../parts/table.tsx'
import { columnsWith } from './delivery-columns.tsx'
import { DeliveryFilters } from './delivery-filters.tsx'
import { type Delivery, findDeliveries } from './find-deliveries.ts'
import { ResendChosen, ResendFound } from './resend.tsx'

const LIVE_MS = 3_000

/** The deliveries of all endpoints, newest first. The first page is read again every few seconds. */
export function DeliveriesPage() {
  const [search] = useFilters()
  const deliveries = useQuery({
    queryKey: ['deliveries', search],
    queryFn: () => findDeliveries(search),
    placeholderData: keepPreviousData,
    refetchInterval: search.after ? false : LIVE_MS,
  })
  return (
    <Page title="Deliveries">
      <DeliveryFilters />
      <Answer of={deliveries}>
        {({ items, next }) => (
          <Found
            key={deliveries.isPlaceholderData ? 'of before' : JSON.stringify(search)}
            items={items}
            next={deliveries.isPlaceholderData ? undefined : (next ?? undefined)}
            search={search}
          />
        )}
      </Answer>
    </Page>
  )
}

interface FoundProps {
  readonly items: readonly Delivery[]
  readonly next: string | undefined
  readonly search: Search
}

/** A page of deliveries, of which some can be chosen. It does not move while somebody reads it. */
function Found({ items, next, search }: FoundProps) {
  const [chosen, setChosen] = useState<ReadonlySet<string>>(new Set())
  const { isRead, handlers } = useIsRead()
  const { rows, waiting, show } = useCalmRows(items, isRead || chosen.size > 0)
  const endpoints = new Map(useAllEndpoints().data?.map(({ id, url }) => [id, url]))
  return (
    <>
      <div className="above-rows">
        <ResendChosen
          chosen={rows.filter(({ id }) => chosen.has(id))}
          onSent={(ids) => setChosen((before) => new Set([...before].filter((id) => !ids.includes(id))))}
        />
        <ResendFound search={search} />
        <span className="grow" />
        {waiting > 0 && (
          <button type="button" className="plain" onClick={show}>
            Show {counted(waiting, 'new delivery', 'new deliveries')}
          </button>
        )}
        {!search.after && <span className="live">Live</span>}
      </div>
      {rows.length === 0 ? (
        <NothingFound search={search} isLast={next === undefined} />
      ) : (
        <div {...handlers}>
          <Table
            label="Deliveries"
            rows={rows}
            columns={columnsWith(endpointColumn(endpoints))}
            chosen={chosen}
            onChoose={setChosen}
          />
        </div>
      )}
      <Pager next={next} />
    </>
  )
}

/** A column with the host of each endpoint, from the URLs by id. */
const endpointColumn = (urls: ReadonlyMap<string, string>): Column<Delivery> => ({
  head: 'Endpoint',
  cell: ({ endpoint_id }) => (
    <Link to="/endpoints/$endpoint" params={{ endpoint: endpoint_id }} title={urls.get(endpoint_id)}>
      {hostOf(urls.get(endpoint_id) ?? '…')}
    </Link>
  ),
})

interface NothingFoundProps {
  readonly search: Search
  /** There are no older ones to look through. */
  readonly isLast: boolean
}

const NothingFound = ({ search, isLast }: NothingFoundProps) =>
  !isLast ? (
    <Empty title="None of the latest deliveries passes these filters">Next looks further back.</Empty>
  ) : Object.keys(search).length === 0 ? (
    <Empty title="No deliveries yet">
      Each change of the workspace that an endpoint asks for appears here, with what the endpoint answered.
    </Empty>
  ) : (
    <Empty title="No delivery passes these filters">
      Deliveries are kept for 30 days. <Link to="/deliveries">Show all deliveries</Link>
    </Empty>
  )
