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
  const happenings: Happening[] = [
    ...details.payments.map(({ id, created_at: at, amount, provider, reference }) => ({
      id,
      at,
      what: 'Payment',
      of: money(amount),
      note: joined(provider, givenReference(reference)),
    })),
    ...details.refunds.map(({ id, created_at: at, amount, reference, reason }) => ({
      id,
      at,
      what: 'Refund',
      of: money(amount),
      note: joined(reason, givenReference(reference)),
    })),
    ...details.invoices.map(({ id, created_at: at, number, total, status }) => ({
      id,
      at,
      what: `Invoice ${number}`,
      of: money(total),
      note: status.toLowerCase(),
    })),
    ...details.credits.map(({ id, created_at: at, number, total }) => ({
      id,
      at,
      what: `Credit note ${number}`,
      of: money(total),
      note: '',
    })),
    ...details.fulfillments.map((one) => ({
      id: one.id,
      at: one.created_at,
      what: 'Sent',
      of: goods(one.items),
      note: '',
    })),
    ...details.cancellations.map((one) => ({
      id: one.id,
      at: one.created_at,
      what: 'Lines cancelled',
      of: goods(one.items),
      note: joined(givenReference(one.reference)),
    })),
    ...details.returns.map((one) => ({
      id: one.id,
      at: one.created_at,
      what: 'Came back',
      of: goods(one.items),
      note: joined(givenReference(one.reference)),
    })),
  ]
  return happenings.toSorted((a, b) => b.at.localeCompare(a.at) || b.id.localeCompare(a.id))
}
