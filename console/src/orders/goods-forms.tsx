import { api, bodyOf } from '../api/client.ts'
import { FormButton } from '../parts/form-dialog.tsx'
import type { Line, Order } from './order.ts'

const CHANGES = ['orders', 'deliveries']

interface GoodsProps {
  readonly order: Order
  readonly lines: readonly Line[]
}

interface QuantitiesProps {
  readonly lines: readonly Line[]
  /** How many of a line there can be. */
  readonly mostOf: (line: Line) => number
  /** Whether the form begins with all of them. */
  readonly isAll?: boolean
}

/** A quantity for each line that has some. */
const Quantities = ({ lines, mostOf, isAll = false }: QuantitiesProps) =>
  lines
    .filter((line) => mostOf(line) > 0)
    .map((line) => (
      <label key={line.id}>
        {line.title.slice(0, 120)} ({line.sku.slice(0, 60)}), up to {mostOf(line).toLocaleString()}
        <input name={line.id} inputMode="numeric" autoComplete="off" defaultValue={isAll ? mostOf(line) : 0} />
      </label>
    ))

/** The quantities of the form. Throws what is wrong with them. */
function quantitiesOf(form: FormData, { lines, mostOf }: QuantitiesProps) {
  const items = lines.flatMap((line) => {
    const typed = String(form.get(line.id) ?? '0').trim()
    if (!/^\d{1,15}$/.test(typed)) throw new Error(`Write a whole number for ${line.sku}.`)
    const quantity = Number(typed)
    if (quantity > mostOf(line)) throw new Error(`Of ${line.sku} it can be ${mostOf(line)} at most.`)
    return quantity === 0 ? [] : [{ id: line.id, quantity }]
  })
  if (items.length === 0) throw new Error('Give a quantity of one line at least.')
  return items
}

/** Records goods that were sent. */
export function Fulfil({ order: { id }, lines }: GoodsProps) {
  const open = { lines, mostOf: (line: Line) => line.open, isAll: true }
  return (
    <FormButton
      needs="sale::create"
      title="Fulfil"
      className="primary"
      submit="Record what is sent"
      done="The goods are recorded as sent."
      changes={CHANGES}
      send={async (form) => {
        const body = { items: quantitiesOf(form, open) }
        return bodyOf(api.POST('/v1/orders/{id}/fulfillments', { params: { path: { id } }, body }))
      }}
    >
      <p>How many of each line were sent?</p>
      <Quantities {...open} />
    </FormButton>
  )
}

/** Gives up what was not sent. */
export function CancelLines({ order: { id }, lines }: GoodsProps) {
  const open = { lines, mostOf: (line: Line) => line.open }
  return (
    <FormButton
      needs="sale::update"
      title="Cancel lines"
      submit="Cancel these"
      done="The quantities are cancelled."
      changes={CHANGES}
      send={async (form, once) => {
        const params = { path: { id } }
        const body = { items: quantitiesOf(form, open), reference: once }
        return bodyOf(api.POST('/v1/orders/{id}/cancellations', { params, body }))
      }}
    >
      <p>What will not be sent any more? Its stock goes back and the total falls. Refund what was paid for it.</p>
      <Quantities {...open} />
    </FormButton>
  )
}

/** Records goods that came back. */
export function Return({ order: { id }, lines }: GoodsProps) {
  const sent = { lines, mostOf: (line: Line) => line.sent }
  return (
    <FormButton
      needs="sale::update"
      title="Take goods back"
      submit="Record the return"
      done="The return is recorded."
      changes={CHANGES}
      send={async (form, once) => {
        const params = { path: { id } }
        const restock = form.has('restock')
        const items = quantitiesOf(form, sent).map((item) => ({ ...item, restock }))
        return bodyOf(api.POST('/v1/orders/{id}/returns', { params, body: { items, reference: once } }))
      }}
    >
      <p>How many came back? The total falls. Refund what was paid for it.</p>
      <Quantities {...sent} />
      <label className="check">
        <input type="checkbox" name="restock" defaultChecked />
        They can be sold again: put them back in stock
      </label>
    </FormButton>
  )
}
