import { keepPreviousData, useQuery } from '@tanstack/react-query'
import { api, bodyOf } from '../api/client.ts'
import { OF_ONE_CUSTOMER } from '../orders/order-columns.tsx'
import { Empty } from '../parts/answer.tsx'
import { useFilters } from '../parts/filters.tsx'
import { List } from '../parts/list.tsx'
import { Section } from '../parts/page.tsx'

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
      <List of={orders} label="Orders" columns={OF_ONE_CUSTOMER} empty={<Empty title="No orders yet" />} />
    </Section>
  )
}
