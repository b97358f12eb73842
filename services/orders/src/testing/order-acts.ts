import type { Cancellation, Order, Return } from '@backoffice/contracts/order.ts'
import type { Caller } from '@backoffice/http/internal-token.ts'
import { openDatabase } from '@backoffice/postgres/database.ts'
import { testSigner } from '@backoffice/testing/caller.ts'
import { whenDone } from '@backoffice/testing/when-done.ts'
import { checkOrders } from '../check/check-orders.ts'
import type { Finding } from '../check/order-findings.ts'
import { takenStock } from '../check/taken-stock.ts'
import type { ordersService } from './orders-api.ts'

type Service = Awaited<ReturnType<typeof ordersService>>
type Quantity = readonly [item: string | undefined, quantity: number, restock?: boolean]

/** What tests do with an order of a service, and what they look at afterwards. */
export function orderActs({ admin, send, catalog, workerUrl }: Service) {
  const pool = openDatabase({ url: workerUrl, applicationName: 'check', poolSize: 1 })
  const taken = takenStock(catalog.url, testSigner())
  whenDone(() => Promise.all([pool.stop?.(), taken.stop()]))
  const post =
    <Body>(what: string) =>
    (caller: Caller, id: string, body: unknown, headers?: Record<string, string>) =>
      send<Body & { error: { message: string } }>(caller, 'POST', `/v1/orders/${id}/${what}`, body, headers)
  const quantities = (wanted: readonly Quantity[]) =>
    wanted.map(([id, quantity, restock]) => ({ id, quantity, ...(restock !== undefined && { restock }) }))
  const acts = {
    put: (caller: Caller, id: string, body: unknown) =>
      send<Order & { error: { message: string } }>(caller, 'PUT', `/v1/orders/${id}`, body),
    read: async (caller: Caller, id: string) => (await send<Order>(caller, 'GET', `/v1/orders/${id}`)).body,
    pay: (caller: Caller, id: string, amount: number, reference: string = crypto.randomUUID()) =>
      post('payments')(caller, id, { amount, currency: 'EUR', reference }),
    fulfil: (caller: Caller, id: string, ...wanted: Quantity[]) =>
      post('fulfillments')(caller, id, wanted.length > 0 ? { items: quantities(wanted) } : {}),
    cancel: (caller: Caller, id: string, wanted?: readonly Quantity[], members: object = {}) =>
      post<Cancellation>('cancellations')(caller, id, { ...(wanted && { items: quantities(wanted) }), ...members }),
    takeBack: (caller: Caller, id: string, wanted: readonly Quantity[], reference: string = crypto.randomUUID()) =>
      post<Return>('returns')(caller, id, { items: quantities(wanted), reference }),
    /** Sends the records about stock to catalog, twice and not in their order, since no relay runs here. */
    deliver: async (caller: Caller) => {
      const records = await admin<{ type: string; key: string; payload: object }[]>`
        select type, key, payload from outbox
        where workspace_id = ${caller.workspaceId} and topic in ('orders.reservations', 'orders.returns') order by id`
      for (const { type, key, payload } of [...records.toReversed(), ...records]) {
        if (type === 'stock.returned') await catalog.send(caller, 'POST', '/internal/stock/return', payload)
        else await catalog.send(caller, 'POST', '/internal/stock/release', { order: key })
      }
    },
    /** What `check-orders` finds, in a workspace or in all. */
    findings: async (caller?: Caller) => {
      const found: Finding[] = []
      await checkOrders(pool.sql, taken.read, (finding) => found.push(finding))
      return found.filter(({ workspace }) => caller === undefined || workspace === caller.workspaceId)
    },
  }
  return acts
}
