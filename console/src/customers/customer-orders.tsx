import { keepPreviousData, useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { api, bodyOf, type components } from '../api/client.ts'
import { Empty } from '../parts/answer.tsx'
import { Badge } from '../parts/badge.tsx'
import { useFilters } from '../parts/filters.tsx'
import { List } from '../parts/list.tsx'
import { Section } from '../parts/page.tsx'
import type { Column } from '../parts/table.tsx'
import { Money, Time } from '../parts/text.tsx'

type Order = components['schemas']['Order']

const COLUMNS: readonly Column<Order>[] = [
  {
    head: 'Order',
    cell: ({ id, order_number }) => (
      <Link to="/orders/$id" params={{ id }}>
        {order_number}
      </Link>
    ),
  },
  { head: 'Status', cell: ({ status }) => <Badge state={status} /> },
  { head: 'Payment', cell: ({ payment_status }) => <Badge state={payment_status} /> },
  { head: 'Shipping', cell: ({ fulfillment_status }) => <Badge state={fulfillment_status} /> },
  { head: 'Items', cell: ({ total_items }) => total_items.toLocaleString(), isNumber: true },
  {
    head: 'Total',
    cell: ({ total_price, currency }) => <Money amount={total_price} currency={currency} />,
    isNumber: true,
  },
  { head: 'Ordered', cell: ({ order_datetime }) => <Time at={order_datetime} /> },
]

/** The orders of a customer, newest first. */
export function CustomerOrders({ customer }: { readonly customer: string }) {
  const [{ after }] = useFilters()
  const orders = useQuery({
    queryKey: ['orders', 'of-customer', customer, after],
    queryFn: () => bodyOf(api.GET('/v1/orders', { params: { query: { customer, ...(after && { after }) } } })),
    placeholderData: keepPreviousData,
  })
  return (
    <Section title="Orders">
      <List of={orders} label="Orders" columns={COLUMNS} empty={<Empty title="No orders yet" />} />
    </Section>
  )
}
