import { Link } from '@tanstack/react-router'
import type { Column } from '../parts/table.tsx'
import { Badge, Long, Money, Time } from '../parts/text.tsx'
import type { Order } from './order.ts'

/** The columns of lists of orders. */
export const COLUMNS: readonly Column<Order>[] = [
  {
    head: 'Order',
    cell: ({ id, order_number }) => (
      <Link to="/orders/$id" params={{ id }} className="whole">
        {order_number}
      </Link>
    ),
  },
  { head: 'Customer', cell: ({ customer }) => <Long text={customer?.name || customer?.email || '–'} isCut /> },
  { head: 'Ordered', cell: ({ order_datetime }) => <Time at={order_datetime} /> },
  { head: 'Status', cell: ({ status }) => <Badge state={status} /> },
  { head: 'Payment', cell: ({ payment_status }) => <Badge state={payment_status} /> },
  { head: 'Fulfilment', cell: ({ fulfillment_status }) => <Badge state={fulfillment_status} /> },
  { head: 'Channel', cell: ({ sales_channel }) => <Long text={sales_channel ?? ''} isCut /> },
  {
    head: 'Total',
    cell: ({ total_price, currency }) => <Money amount={total_price} currency={currency} />,
    isNumber: true,
  },
]

/** Those where all orders are of one customer. */
export const OF_ONE_CUSTOMER = COLUMNS.filter(({ head }) => head !== 'Customer')
