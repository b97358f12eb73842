import { api, bodyOf } from '../api/client.ts'
import { OF_ONE_CUSTOMER } from '../orders/order-columns.tsx'
import { List, useList } from '../parts/list.tsx'
import { Empty, Section } from '../parts/page.tsx'

/** The orders of a customer, newest first. */
export function CustomerOrders({ customer }: { readonly customer: string }) {
  const orders = useList(['orders', 'of-customer', customer], ({ after }) =>
    bodyOf(api.GET('/v1/orders', { params: { query: { customer, ...(after && { after }) } } })),
  )
  return (
    <Section title="Orders">
      <List of={orders} label="Orders" columns={OF_ONE_CUSTOMER} empty={<Empty title="No orders yet" />} />
    </Section>
  )
}
