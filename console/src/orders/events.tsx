import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { api, bodyOf } from '../api/client.ts'
import { COLUMNS } from '../deliveries/delivery-columns.tsx'
import { Section } from '../parts/page.tsx'
import { Table } from '../parts/table.tsx'

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
      of={deliveries}
    >
      {({ items }) => (
        <Table label="Events" rows={items} columns={COLUMNS} empty="No endpoint was told of this order." />
      )}
    </Section>
  )
}
