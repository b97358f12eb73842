import { keepPreviousData, useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { useState } from 'react'
import { api, bodyOf, type components } from '../api/client.ts'
import { Act, counted, useAction } from '../parts/action.tsx'
import { Answer, Empty } from '../parts/answer.tsx'
import { Badge } from '../parts/badge.tsx'
import { Choice, Filters, Moment, Pager, useFilters, Words } from '../parts/filters.tsx'
import { Page } from '../parts/page.tsx'
import { type Column, Table } from '../parts/table.tsx'
import { Id, Time } from '../parts/text.tsx'

type Delivery = components['schemas']['WorkspaceDelivery']

const STATES = ['PENDING', 'DELIVERED', 'FAILED']
const ERRORS = ['status', 'timeout', 'refused', 'connection', 'dns', 'tls', 'blocked']
const LIVE_MS = 3_000

const COLUMNS: readonly Column<Delivery>[] = [
  {
    head: 'Event',
    cell: ({ id, endpoint_id, event_type }) => (
      <Link to="/endpoints/$endpoint/deliveries/$delivery" params={{ endpoint: endpoint_id, delivery: id }}>
        {event_type}
      </Link>
    ),
  },
  { head: 'State', cell: ({ status }) => <Badge state={status} /> },
  { head: 'Last answer', cell: ({ response_status, error_class }) => response_status ?? error_class ?? '–' },
  { head: 'Attempts', cell: ({ attempts_made }) => attempts_made, isNumber: true },
  { head: 'Created', cell: ({ created_at }) => <Time at={created_at} /> },
  { head: 'Next attempt', cell: ({ next_attempt_at }) => <Time at={next_attempt_at} /> },
  { head: 'Resource', cell: ({ resource_id }) => <Id id={resource_id} /> },
]

/** The deliveries of all endpoints, newest first. The first page is read again every few seconds. */
export function DeliveriesPage() {
  const [search] = useFilters()
  const [chosen, setChosen] = useState<ReadonlySet<string>>(new Set())
  const deliveries = useQuery({
    queryKey: ['deliveries', search],
    queryFn: () => bodyOf(api.GET('/v1/deliveries', { params: { query: search } })),
    placeholderData: keepPreviousData,
    refetchInterval: search.after ? false : LIVE_MS,
  })
  const resend = useAction(() => bodyOf(api.POST('/v1/deliveries/resend', { body: { ids: [...chosen] } })), {
    done: ({ deliveries: sent, skipped }) =>
      `${counted(sent, 'delivery is', 'deliveries are')} sent again${skipped ? `, ${skipped} skipped` : ''}.`,
    changes: ['deliveries'],
    onDone: () => setChosen(new Set()),
  })
  return (
    <Page
      title="Deliveries"
      actions={
        <Act
          needs="webhook::create"
          isBusy={resend.isPending}
          disabled={chosen.size === 0}
          onAct={() => resend.mutate()}
        >
          {chosen.size === 0 ? 'Resend' : `Resend ${chosen.size}`}
        </Act>
      }
    >
      <Filters>
        <Choice label="State" name="status" options={STATES} />
        <Words label="Event type" name="event_type" placeholder="order.paid" />
        <Words label="Event id" name="event_id" />
        <Words label="Resource id" name="resource_id" />
        <Words label="Status answered" name="response_status" placeholder="500" />
        <Choice label="Failed by" name="error_class" options={ERRORS} />
        <Moment label="Since" name="since" />
        <Moment label="Until" name="until" />
      </Filters>
      <Answer of={deliveries}>
        {({ items, next }) => (
          <>
            {items.length === 0 ? (
              <Empty title="No deliveries">
                <p>Events of the workspace appear here once an endpoint asks for them.</p>
              </Empty>
            ) : (
              <Table
                label="Deliveries"
                rows={items}
                keyOf={({ id }) => id}
                columns={COLUMNS}
                chosen={chosen}
                onChoose={setChosen}
              />
            )}
            <Pager next={next ?? undefined} />
          </>
        )}
      </Answer>
    </Page>
  )
}
