import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { api, bodyOf, type components } from '../api/client.ts'
import { Answer } from '../parts/answer.tsx'
import { Badge } from '../parts/badge.tsx'
import { Section } from '../parts/page.tsx'
import { type Column, Table } from '../parts/table.tsx'
import { Time } from '../parts/text.tsx'

type Delivery = components['schemas']['WorkspaceDelivery']

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
  { head: 'Created', cell: ({ created_at }) => <Time at={created_at} /> },
]

/** The deliveries of an order's events to webhook endpoints. */
export function Events({ order }: { readonly order: string }) {
  const query = { resource_id: order }
  const deliveries = useQuery({
    queryKey: ['deliveries', 'order', order],
    queryFn: () => bodyOf(api.GET('/v1/deliveries', { params: { query } })),
  })
  return (
    <Section
      title="Events"
      actions={
        <Link to="/deliveries" search={query}>
          All deliveries of this order
        </Link>
      }
    >
      <Answer of={deliveries}>
        {({ items }) =>
          items.length === 0 ? (
            <p className="quiet">No endpoint was told of this order.</p>
          ) : (
            <Table label="Events" rows={items} keyOf={({ id }) => id} columns={COLUMNS} />
          )
        }
      </Answer>
    </Section>
  )
}
