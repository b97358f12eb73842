import { useQuery } from '@tanstack/react-query'
import { Link, useParams } from '@tanstack/react-router'
import { api, bodyOf } from '../api/client.ts'
import { orNone } from '../api/failure.ts'
import { Facts, Page, Section, Unread } from '../parts/page.tsx'
import { type Column, Table } from '../parts/table.tsx'
import { Badge, Id, Long, Money, Time } from '../parts/text.tsx'
import { useCan } from '../session/session.ts'
import { OrderActions } from './actions.tsx'
import { Events } from './events.tsx'
import { type Happening, historyOf } from './history.ts'
import { type Details, type Line, linesOf, type Order, useOrder } from './order.ts'

/** One order: what is to be paid and sent, what happened, and what can be done next. */
export function OrderPage() {
  const { id } = useParams({ from: '/orders/$id' })
  const found = useOrder(id)
  const can = useCan()
  const title = found.data ? `Order ${found.data.order.order_number}` : 'Order'
  return (
    <Page title={title} above={<Link to="/orders">Orders</Link>} of={found}>
      {({ order, tag, details }) => (
        <>
          <div className="actions">
            <Badge state={order.status} /> <Badge state={order.payment_status} />{' '}
            <Badge state={order.fulfillment_status} />
          </div>
          <OrderActions order={order} tag={tag} details={details} />
          {order.status === 'CART' && order.payment_status === 'PAID' && <NotPlaced id={id} />}
          <Lines order={order} details={details} />
          <div className="columns">
            <Sums order={order} details={details} />
            <Customer order={order} />
          </div>
          {details.invoices.length > 0 && can('customer::read') && <InvoiceBuyer order={order} />}
          <History order={order} details={details} />
          {can('webhook::read') && <Events order={id} />}
        </>
      )}
    </Page>
  )
}

interface PartProps {
  readonly order: Order
  readonly details: Details
}

/** Why an order that is paid is not placed. */
function NotPlaced({ id }: { readonly id: string }) {
  const placement = useQuery({
    queryKey: ['orders', id, 'placement'],
    queryFn: () => orNone(bodyOf(api.GET('/v1/orders/{id}/placement', { params: { path: { id } } }))),
  })
  if (!placement.data) return <Unread of={placement} />
  const { reason, next_attempt_at } = placement.data
  return (
    <div className="notice">
      <h2>It is paid, but not placed</h2>
      {reason && <Long text={reason} />}
      {next_attempt_at && (
        <p>
          It is tried again by itself: <Time at={next_attempt_at} />.
        </p>
      )}
    </div>
  )
}

const lineColumns = (currency: string): readonly Column<Line>[] => [
  { head: 'Product', cell: ({ title }) => <Long text={title} /> },
  { head: 'SKU', cell: ({ sku }) => <code>{sku}</code> },
  { head: 'Quantity', cell: ({ quantity }) => quantity.toLocaleString(), isNumber: true },
  { head: 'Sent', cell: ({ sent }) => sent.toLocaleString(), isNumber: true },
  {
    head: 'Price',
    cell: ({ unit_price, negotiated_unit_price: agreed }) => (
      <Money amount={agreed ?? unit_price} currency={currency} />
    ),
    isNumber: true,
  },
  { head: 'Total', cell: ({ total_price }) => <Money amount={total_price} currency={currency} />, isNumber: true },
]

const Lines = ({ order, details }: PartProps) => (
  <Section title="Lines">
    <Table label="Lines" rows={linesOf(order, details)} columns={lineColumns(order.currency)} />
  </Section>
)

/** What the order comes to, and what of it was paid. */
function Sums({ order, details: { balance } }: PartProps) {
  const money = (amount: number) => <Money amount={amount} currency={order.currency} />
  const unlessNone = (amount: number) => (amount === 0 ? undefined : money(amount))
  return (
    <Section title="Money">
      <Facts
        of={{
          Lines: money(order.subtotal_price),
          Shipping: unlessNone(order.total_shipping),
          Tax: unlessNone(order.total_tax),
          Discount: unlessNone(-order.total_discount),
          Total: money(order.total_price),
          Paid: money(balance.paid),
          Refunded: unlessNone(balance.refunded),
          'Still to pay': <strong>{money(balance.open)}</strong>,
        }}
      />
    </Section>
  )
}

/** Who ordered, and where it goes. */
function Customer({ order }: { readonly order: Order }) {
  const { customer, shipping_address, note, promise_date, sales_channel } = order
  return (
    <Section title="Customer">
      <Facts
        of={{
          Customer: customer && <Long text={customer.name || '–'} />,
          'E-mail': customer?.email && <Long text={customer.email} />,
          'Ships to': shipping_address && <Long text={texts(shipping_address).join('\n')} />,
          Ordered: <Time at={order.order_datetime} />,
          'Promised for': promise_date,
          Channel: sales_channel && <Long text={sales_channel} />,
          Note: note && <Long text={note} />,
          Id: <Id id={order.id} />,
        }}
      />
    </Section>
  )
}

/** Whom the invoice names where the order does not any more: the customer is erased, or has another name by now. */
function InvoiceBuyer({ order: { id, customer } }: { readonly order: Order }) {
  const buyer = useQuery({
    queryKey: ['orders', id, 'buyer'],
    queryFn: () => orNone(bodyOf(api.GET('/v1/orders/{id}/buyer', { params: { path: { id } } }))),
  })
  const { name = null, email = null, address = null } = buyer.data ?? {}
  if (buyer.isError && buyer.data === undefined) return <Unread of={buyer} />
  if (name === null || (name === customer?.name && email === customer.email)) return null
  return (
    <Section title="Buyer on the invoice">
      <Facts
        of={{
          Name: <Long text={name} />,
          'E-mail': email && <Long text={email} />,
          Address: address && <Long text={texts(address).join('\n')} />,
        }}
      />
    </Section>
  )
}

/** The texts of an address, whatever its members are called. */
const texts = (value: unknown): string[] => {
  if (typeof value === 'object' && value !== null) return Object.values(value).flatMap(texts)
  return value === null || value === undefined || value === '' ? [] : [String(value)]
}

const HISTORY: readonly Column<Happening>[] = [
  { head: 'When', cell: ({ at }) => <Time at={at} /> },
  { head: 'What', cell: ({ what }) => what },
  { head: 'How much', cell: ({ of }) => <Long text={of} /> },
  { head: 'More', cell: ({ note }) => <Long text={note} most={80} /> },
]

const History = ({ order, details }: PartProps) => (
  <Section title="What happened">
    <Table
      label="What happened"
      rows={historyOf(order, details)}
      columns={HISTORY}
      empty="Nothing is paid, sent or invoiced yet."
    />
  </Section>
)
