import { givenReference } from '../parts/form-dialog.tsx'
import { moneyText } from '../parts/text.tsx'
import type { Details, Order } from './order.ts'

/** Something that happened to an order. */
export interface Happening {
  readonly id: string
  readonly at: string
  readonly what: string
  /** The amount, or the goods. */
  readonly of: string
  readonly note: string
}

interface Stored {
  readonly id: string
  readonly created_at: string
}
type Told = readonly [what: string, of: string, note?: string]
type Goods = readonly { readonly id: string; readonly quantity: number; readonly restock?: boolean }[]

const joined = (...words: readonly (string | null)[]) => words.filter(Boolean).join(' · ')

/** What happened to an order, latest first. */
export function historyOf({ currency, items }: Order, details: Details): readonly Happening[] {
  const money = (amount: number) => moneyText(amount, currency)
  const titles = new Map(items.map(({ id, title }) => [id, title]))
  const goods = (lines: Goods) =>
    lines
      .map(({ id, quantity, restock }) => {
        const fate = restock === false ? ' (not back in stock)' : ''
        return `${quantity} × ${titles.get(id) ?? 'a line that is gone'}${fate}`
      })
      .join(', ')
  const all = <One extends Stored>(them: readonly One[], tell: (one: One) => Told): readonly Happening[] =>
    them.map((one) => {
      const [what, of, note = ''] = tell(one)
      return { id: one.id, at: one.created_at, what, of, note }
    })
  const happenings = [
    ...all(details.payments, (one) => [
      'Payment',
      money(one.amount),
      joined(one.provider, givenReference(one.reference)),
    ]),
    ...all(details.refunds, (one) => ['Refund', money(one.amount), joined(one.reason, givenReference(one.reference))]),
    ...all(details.invoices, (one) => [`Invoice ${one.number}`, money(one.total), one.status.toLowerCase()]),
    ...all(details.credits, (one) => [`Credit note ${one.number}`, money(one.total)]),
    ...all(details.fulfillments, (one) => ['Sent', goods(one.items)]),
    ...all(details.cancellations, (one) => [
      'Lines cancelled',
      goods(one.items),
      joined(givenReference(one.reference)),
    ]),
    ...all(details.returns, (one) => ['Came back', goods(one.items), joined(givenReference(one.reference))]),
  ]
  return happenings.toSorted((a, b) => b.at.localeCompare(a.at) || b.id.localeCompare(a.id))
}
