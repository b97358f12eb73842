import { useQuery } from '@tanstack/react-query'
import { allOf } from '../api/all-of.ts'
import { api, bodyOf, type components, taggedOf } from '../api/client.ts'

export type Order = components['schemas']['Order']
type Item = Order['items'][number]

/** What belongs to an order: its documents and what moved. Nothing is there before all is. */
async function readDetails(id: string) {
  const path = { id }
  const [balance, payments, refunds, invoices, credits, fulfillments, cancellations, returns] = await Promise.all([
    bodyOf(api.GET('/v1/orders/{id}/balance', { params: { path } })),
    allOf((query) => bodyOf(api.GET('/v1/orders/{id}/payments', { params: { path, query } }))),
    allOf((query) => bodyOf(api.GET('/v1/orders/{id}/refunds', { params: { path, query } }))),
    allOf((query) => bodyOf(api.GET('/v1/orders/{id}/invoices', { params: { path, query } }))),
    allOf((query) => bodyOf(api.GET('/v1/orders/{id}/credit-notes', { params: { path, query } }))),
    allOf((query) => bodyOf(api.GET('/v1/orders/{id}/fulfillments', { params: { path, query } }))),
    allOf((query) => bodyOf(api.GET('/v1/orders/{id}/cancellations', { params: { path, query } }))),
    allOf((query) => bodyOf(api.GET('/v1/orders/{id}/returns', { params: { path, query } }))),
  ])
  return { balance, payments, refunds, invoices, credits, fulfillments, cancellations, returns }
}

export type Details = Awaited<ReturnType<typeof readDetails>>

export const readOrder = (id: string) => taggedOf(api.GET('/v1/orders/{id}', { params: { path: { id } } }))

/** The order, its tag, and all that belongs to it. */
export const useOrder = (id: string) =>
  useQuery({
    queryKey: ['orders', id],
    queryFn: async () => {
      const [{ body: order, tag }, details] = await Promise.all([readOrder(id), readDetails(id)])
      return { order, tag, details }
    },
  })

/** A line of an order, with how many of it were sent. */
export interface Line extends Item {
  readonly sent: number
  /** How many are still to be sent. */
  readonly open: number
}

/** The lines of an order. What was sent and came back counts as neither. */
export function linesOf({ items }: Order, { fulfillments, returns }: Details): readonly Line[] {
  const sent = quantities(fulfillments)
  const back = quantities(returns)
  return items.map((item) => {
    const ofItem = (sent.get(item.id) ?? 0) - (back.get(item.id) ?? 0)
    return { ...item, sent: ofItem, open: item.quantity - ofItem }
  })
}

interface Goods {
  readonly items: readonly { readonly id: string; readonly quantity: number }[]
}

/** The quantities by line. */
function quantities(moved: readonly Goods[]): ReadonlyMap<string, number> {
  const sums = new Map<string, number>()
  for (const { id, quantity } of moved.flatMap(({ items }) => items)) sums.set(id, (sums.get(id) ?? 0) + quantity)
  return sums
}
