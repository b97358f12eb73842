import { api, bodyOf } from '../api/client.ts'
import { ApiFailure } from '../api/failure.ts'
import { ApiAct } from '../parts/action.tsx'
import { FormButton } from '../parts/form-dialog.tsx'
import { GoodsForm } from './goods-forms.tsx'
import { RecordPayment, Refund } from './money-forms.tsx'
import { type Details, linesOf, type Order, readOrder } from './order.ts'

const CHANGES = ['orders', 'deliveries']

/** An order as the page shows it. */
interface Shown {
  readonly order: Order
  readonly tag: string
}

/** What the state of the order allows, as docs/orders.md has it. The next thing to do comes first. */
export function OrderActions({ order, tag, details }: Shown & { readonly details: Details }) {
  const shown = { order, tag }
  const { status, fulfillment_status } = order
  const { balance, invoices } = details
  const lines = linesOf(order, details)
  const isPlaced = status === 'PLACED' || status === 'COMPLETED'
  const isOpen = lines.some(({ open }) => open > 0)
  const isInvoiced = invoices.length > 0
  return (
    <div className="actions">
      {status === 'CART' && <Place {...shown} />}
      {balance.open > 0 && <RecordPayment order={order} details={details} />}
      {isPlaced && isOpen && <GoodsForm act="fulfil" order={order} details={details} lines={lines} />}
      {status === 'PLACED' && !isOpen && <Move {...shown} to="COMPLETED" />}
      {balance.paid > balance.refunded && <Refund order={order} details={details} />}
      {isPlaced && lines.some(({ sent }) => sent > 0) && (
        <GoodsForm act="return" order={order} details={details} lines={lines} />
      )}
      {status !== 'CANCELLED' && !isInvoiced && <Invoice {...shown} />}
      {isOpen && (isPlaced || (status === 'CART' && isInvoiced)) && (
        <GoodsForm act="cancel" order={order} details={details} lines={lines} />
      )}
      {status === 'PLACED' && isOpen && <Move {...shown} to="COMPLETED" />}
      {(status === 'CART' || (status === 'PLACED' && fulfillment_status === 'UNFULFILLED')) && (
        <Move {...shown} to="CANCELLED" />
      )}
    </div>
  )
}

type Status = 'PLACED' | keyof typeof MOVES

/** What has changed is seen before somebody decides about it: the page is read again. */
const hasChanged = () =>
  new ApiFailure(
    412,
    'precondition_failed',
    'Nothing is done: the order has changed meanwhile. Close this, and look at it again.',
  )

/** Changes the order as it is shown. Throws when it has changed since, unless it has the status by now. */
async function change({ order: { id }, tag }: Shown, body: { status: Status; accept_prices?: boolean }) {
  try {
    return await bodyOf(api.PUT('/v1/orders/{id}', { params: { path: { id } }, headers: { 'if-match': tag }, body }))
  } catch (error) {
    if (!(error instanceof ApiFailure) || error.status !== 412) throw error
    // An earlier try may have changed it whose answer was lost.
    const { body: now } = await readOrder(id)
    if (now.status !== body.status) throw hasChanged()
    return now
  }
}

const Place = (shown: Shown) => (
  <FormButton
    needs="sale::update"
    title="Place the order"
    submit="Place"
    done="The order is placed."
    changes={CHANGES}
    send={(form) => change(shown, { status: 'PLACED', accept_prices: form.has('accept') })}
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

const Move = ({ to, ...shown }: Shown & { readonly to: keyof typeof MOVES }) => (
  <ApiAct
    needs="sale::update"
    className={to === 'CANCELLED' ? 'danger' : undefined}
    question={MOVES[to].question}
    act={() => change(shown, { status: to })}
    done={MOVES[to].done}
    changes={CHANGES}
  >
    {MOVES[to].words}
  </ApiAct>
)

/** A tag without `W/`, which it has when the answer was compressed. */
const bare = (tag: string) => tag.replace(/^W\//, '')

const Invoice = ({ order: { id }, tag }: Shown) => (
  <ApiAct
    needs="sale::create"
    question="Issue the invoice? The lines of the order cannot be edited afterwards."
    act={async () => {
      // It takes no tag: a change between these two requests is not seen.
      if (bare((await readOrder(id)).tag) !== bare(tag)) throw hasChanged()
      return bodyOf(api.POST('/v1/orders/{id}/invoices', { params: { path: { id } } }))
    }}
    done={({ number }) => `Invoice ${number} is issued.`}
    changes={CHANGES}
  >
    Issue the invoice
  </ApiAct>
)
