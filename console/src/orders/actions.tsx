import { api, bodyOf } from '../api/client.ts'
import { ApiAct } from '../parts/action.tsx'
import { FormButton } from '../parts/form-dialog.tsx'
import { GoodsForm } from './goods-forms.tsx'
import { RecordPayment, Refund } from './money-forms.tsx'
import { type Details, linesOf, type Order } from './order.ts'

const CHANGES = ['orders', 'deliveries']

/** What the state of the order allows, as docs/orders.md has it. The next thing to do comes first. */
export function OrderActions({ order, details }: { readonly order: Order; readonly details: Details }) {
  const { status, fulfillment_status } = order
  const { balance, invoices } = details
  const lines = linesOf(order, details)
  const isPlaced = status === 'PLACED' || status === 'COMPLETED'
  const isOpen = lines.some(({ open }) => open > 0)
  const isInvoiced = invoices.length > 0
  return (
    <div className="actions">
      {status === 'CART' && <Place order={order} />}
      {balance.open > 0 && <RecordPayment order={order} details={details} />}
      {isPlaced && isOpen && <GoodsForm act="fulfil" order={order} details={details} lines={lines} />}
      {status === 'PLACED' && !isOpen && <Move order={order} to="COMPLETED" />}
      {balance.paid > balance.refunded && <Refund order={order} details={details} />}
      {isPlaced && lines.some(({ sent }) => sent > 0) && (
        <GoodsForm act="return" order={order} details={details} lines={lines} />
      )}
      {status !== 'CANCELLED' && !isInvoiced && <Invoice order={order} />}
      {isOpen && (isPlaced || (status === 'CART' && isInvoiced)) && (
        <GoodsForm act="cancel" order={order} details={details} lines={lines} />
      )}
      {status === 'PLACED' && isOpen && <Move order={order} to="COMPLETED" />}
      {(status === 'CART' || (status === 'PLACED' && fulfillment_status === 'UNFULFILLED')) && (
        <Move order={order} to="CANCELLED" />
      )}
    </div>
  )
}

const Place = ({ order: { id } }: { readonly order: Order }) => (
  <FormButton
    needs="sale::update"
    title="Place the order"
    submit="Place"
    done="The order is placed."
    changes={CHANGES}
    send={(form) => {
      const body = { status: 'PLACED' as const, accept_prices: form.has('accept') }
      return bodyOf(api.PUT('/v1/orders/{id}', { params: { path: { id } }, body }))
    }}
  >
    <p>The stock of all lines is taken, and the invoice is issued.</p>
    <label className="check">
      <input type="checkbox" name="accept" />
      Take the prices of today where they have changed
    </label>
  </FormButton>
)

const MOVES = {
  COMPLETED: {
    words: 'Complete',
    done: 'The order is completed.',
    question: 'Complete this order? It cannot be reopened.',
  },
  CANCELLED: {
    words: 'Cancel the order',
    done: 'The order is cancelled.',
    question: 'Cancel this order? It cannot be reopened. Its stock goes back; what was paid stays until you refund it.',
  },
} as const

const Move = ({ order: { id }, to }: { readonly order: Order; readonly to: keyof typeof MOVES }) => (
  <ApiAct
    needs="sale::update"
    className={to === 'CANCELLED' ? 'danger' : undefined}
    question={MOVES[to].question}
    act={() => bodyOf(api.PUT('/v1/orders/{id}', { params: { path: { id } }, body: { status: to } }))}
    done={MOVES[to].done}
    changes={CHANGES}
  >
    {MOVES[to].words}
  </ApiAct>
)

const Invoice = ({ order: { id } }: { readonly order: Order }) => (
  <ApiAct
    needs="sale::create"
    question="Issue the invoice? The lines of the order cannot be edited afterwards."
    act={() => bodyOf(api.POST('/v1/orders/{id}/invoices', { params: { path: { id } } }))}
    done={({ number }) => `Invoice ${number} is issued.`}
    changes={CHANGES}
  >
    Issue the invoice
  </ApiAct>
)
