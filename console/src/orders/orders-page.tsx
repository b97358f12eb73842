import { keepPreviousData, useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { api, bodyOf, type components } from '../api/client.ts'
import { Empty } from '../parts/answer.tsx'
import { Badge } from '../parts/badge.tsx'
import { Choice, Filters, Moment, useFilters, Words } from '../parts/filters.tsx'
import { List } from '../parts/list.tsx'
import { Page } from '../parts/page.tsx'
import type { Column } from '../parts/table.tsx'
import { Long, Money, Time } from '../parts/text.tsx'

type Order = components['schemas']['Order']

const STATUSES = ['CART', 'PLACED', 'COMPLETED', 'CANCELLED']
const PAYMENT_STATUSES = ['UNPAID', 'PARTIALLY_PAID', 'PAID', 'REFUNDED']
const FULFILLMENT_STATUSES = ['UNFULFILLED', 'PARTIALLY_FULFILLED', 'FULFILLED']

const COLUMNS: readonly Column<Order>[] = [
  {
    head: 'Order',
    cell: ({ id, order_number }) => (
      <Link to="/orders/$id" params={{ id }} className="whole">
        {order_number}
      </Link>
    ),
  },
  { head: 'Customer', cell: ({ customer }) => <Long text={customer?.name || customer?.email || '–'} most={60} /> },
  { head: 'Ordered', cell: ({ order_datetime }) => <Time at={order_datetime} /> },
  { head: 'Status', cell: ({ status }) => <Badge state={status} /> },
  { head: 'Payment', cell: ({ payment_status }) => <Badge state={payment_status} /> },
  { head: 'Fulfilment', cell: ({ fulfillment_status }) => <Badge state={fulfillment_status} /> },
  { head: 'Channel', cell: ({ sales_channel }) => <Long text={sales_channel ?? ''} most={30} /> },
  {
    head: 'Total',
    cell: ({ total_price, currency }) => <Money amount={total_price} currency={currency} />,
    isNumber: true,
  },
]

/** The orders of the workspace, newest first. */
export function OrdersPage() {
  const [search, change] = useFilters()
  const orders = useQuery({
    queryKey: ['orders', 'list', search],
    queryFn: () => bodyOf(api.GET('/v1/orders', { params: { query: search } })),
    placeholderData: keepPreviousData,
  })
  const isFiltered = Object.keys(search).length > 0
  return (
    <Page title="Orders">
      <Filters>
        <Words label="Number, name or e-mail" name="query" />
        <Choice label="Status" name="status" options={STATUSES} />
        <Choice label="Payment" name="payment_status" options={PAYMENT_STATUSES} />
        <Choice label="Fulfilment" name="fulfillment_status" options={FULFILLMENT_STATUSES} />
        <Words label="Exact number" name="order_number" />
        <Words label="Exact e-mail" name="email" />
        <Words label="SKU" name="sku" />
        <Words label="Channel" name="sales_channel" />
        <Moment label="Since" name="since" />
        <Moment label="Until" name="until" />
      </Filters>
      <List
        of={orders}
        label="Orders"
        columns={COLUMNS}
        empty={
          isFiltered ? (
            <Empty title="No order fits">
              <button
                type="button"
                onClick={() => change(Object.fromEntries(Object.keys(search).map((name) => [name, undefined])))}
              >
                Show all orders
              </button>
            </Empty>
          ) : (
            <Empty title="No orders yet">
              <p>Orders appear here as soon as your shop or an app creates one.</p>
            </Empty>
          )
        }
      />
    </Page>
  )
}
