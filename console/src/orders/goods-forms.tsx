import { api, bodyOf } from '../api/client.ts'
import { FormButton } from '../parts/form-dialog.tsx'
import type { Details, Line, Order } from './order.ts'

interface Moved {
  readonly id: string
  readonly quantity: number
}

/** What is done with goods of an order. `open` are still to be sent. */
const GOODS = {
  fulfil: {
    of: 'open',
    writes: 'fulfillments',
    needs: 'sale::create',
    title: 'Fulfil',
    className: 'primary',
    submit: 'Record what is sent',
    done: 'The goods are recorded as sent.',
    text: 'How many of each line were sent?',
    send: (id: string, items: Moved[], once: string) => {
      const headers = { 'idempotency-key': once }
      return bodyOf(api.POST('/v1/orders/{id}/fulfillments', { params: { path: { id } }, headers, body: { items } }))
    },
  },
  cancel: {
    of: 'open',
    writes: 'cancellations',
    needs: 'sale::update',
    title: 'Cancel lines',
    submit: 'Cancel these',
    done: 'The quantities are cancelled.',
    text: 'What will not be sent any more? Its stock goes back and the total falls. Refund what was paid for it.',
    send: (id: string, items: Moved[], reference: string) =>
      bodyOf(api.POST('/v1/orders/{id}/cancellations', { params: { path: { id } }, body: { items, reference } })),
  },
  return: {
    of: 'sent',
    writes: 'returns',
    needs: 'sale::update',
    title: 'Take goods back',
    submit: 'Record the return',
    done: 'The return is recorded.',
    text: 'How many came back? The total falls. Refund what was paid for it.',
    send: (id: string, moved: Moved[], reference: string, restock: boolean) => {
      const items = moved.map((item) => ({ ...item, restock }))
      return bodyOf(api.POST('/v1/orders/{id}/returns', { params: { path: { id } }, body: { items, reference } }))
    },
  },
} as const

interface GoodsFormProps {
  readonly act: keyof typeof GOODS
  readonly order: Order
  readonly details: Details
  readonly lines: readonly Line[]
}

/** A button with a form that takes a quantity of each line. */
export function GoodsForm({ act, order, details, lines }: GoodsFormProps) {
  const { of, writes, text, send, ...form } = GOODS[act]
  return (
    <FormButton
      {...form}
      shown={details[writes]}
      changes={['orders', 'deliveries']}
      send={async (typed, once): Promise<unknown> =>
        send(order.id, quantitiesOf(typed, lines, of), once, typed.has('restock'))
      }
    >
      <p>{text}</p>
      {lines
        .filter((line) => line[of] > 0)
        .map((line) => (
          <label key={line.id}>
            {line.title.slice(0, 120)} ({line.sku.slice(0, 60)}), up to {line[of].toLocaleString()}
            <input
              name={line.id}
              inputMode="numeric"
              autoComplete="off"
              defaultValue={act === 'fulfil' ? line.open : 0}
            />
          </label>
        ))}
      {act === 'return' && (
        <label className="check">
          <input type="checkbox" name="restock" defaultChecked />
          They can be sold again: put them back in stock
        </label>
      )}
    </FormButton>
  )
}

/** The quantities of the form. Throws what is wrong with them. */
function quantitiesOf(form: FormData, lines: readonly Line[], of: 'open' | 'sent'): Moved[] {
  const items = lines.flatMap((line) => {
    const typed = String(form.get(line.id) ?? '0').trim()
    if (!/^\d{1,15}$/.test(typed)) throw new Error(`Write a whole number for ${line.sku}.`)
    const quantity = Number(typed)
    if (quantity > line[of]) throw new Error(`Of ${line.sku} it can be ${line[of]} at most.`)
    return quantity === 0 ? [] : [{ id: line.id, quantity }]
  })
  if (items.length === 0) throw new Error('Give a quantity of one line at least.')
  return items
}
