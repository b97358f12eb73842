import { api, bodyOf } from '../api/client.ts'
import { Choice, Filters, Moment, useFilters, Words } from '../parts/filters.tsx'
import { List, useList } from '../parts/list.tsx'
import { Empty, Page } from '../parts/page.tsx'
import { COLUMNS } from './order-columns.tsx'

const STATUSES = ['CART', 'PLACED', 'COMPLETED', 'CANCELLED']
const PAYMENT_STATUSES = ['UNPAID', 'PARTIALLY_PAID', 'PAID', 'REFUNDED']
const FULFILLMENT_STATUSES = ['UNFULFILLED', 'PARTIALLY_FULFILLED', 'FULFILLED']

/** The orders of the workspace, newest first. */
export function OrdersPage() {
  const [search, change] = useFilters()
  const orders = useList(['orders', 'list'], (query) => bodyOf(api.GET('/v1/orders', { params: { query } })))
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
            <Empty title="No orders yet">Orders appear here as soon as your shop or an app creates one.</Empty>
          )
        }
      />
    </Page>
  )
}
