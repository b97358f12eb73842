import { randomUUID } from 'node:crypto'
import { setTimeout as pause } from 'node:timers/promises'
import type { Product } from '@backoffice/contracts/product.ts'
import { aCaller, ownCallHeaders } from '@backoffice/testing/caller.ts'
import { eventually } from '@backoffice/testing/eventually.ts'
import { startReceiver } from '@backoffice/testing/receiver.ts'
import { expect, it } from 'vitest'
import { apiWith } from './testing/api.ts'
import { backofficeIn } from './testing/backoffice.ts'
import { aProduct } from './testing/products.ts'
import { startStack } from './testing/stack.ts'
import { newWorkspace } from './testing/workspaces.ts'

const stack = await startStack()
const headersOf = ownCallHeaders(stack.signer)
const { api, id: workspaceId } = await newWorkspace(stack.description())
const caller = aCaller({ workspaceId, scopes: [] })

const ORDERS = 1200
const EVERY_MS = 5
const KILL_AFTER = [250, 550, 850]
const RECOVERY_MS = 60_000

interface Line {
  readonly variant: string
  readonly quantity: number
}

/** Calls the catalog as another service does, and again until it answers. */
async function catalog<Body>(path: string, body: unknown): Promise<{ status: number; body: Body }> {
  const deadline = performance.now() + RECOVERY_MS
  for (;;) {
    const call = apiWith(stack.description().services.catalog?.url ?? '', undefined)
    const answer = await call<Body>('POST', path, body, await headersOf(caller, 'catalog')).catch(() => undefined)
    if (answer !== undefined && answer.status < 500) return answer
    if (performance.now() > deadline) throw new Error(`${path} has no answer`)
    await pause(200)
  }
}

/**
 * Takes stock for an order: twice at once for every seventh. Releases every fifth. Returns the status of the takes: of
 * two, one may be refused before the other finds what another order has given back.
 */
async function placeOrder(order: string, lines: Line[], index: number): Promise<number> {
  const take = () => catalog<{ lines: Line[] }>('/internal/stock/take', { order, lines })
  const answers = await Promise.all(index % 7 === 0 ? [take(), take()] : [take()])
  const status = Math.min(...answers.map((answer) => answer.status))
  if (status === 200 && isGivenBack(index)) await catalog('/internal/stock/release', { order })
  return status
}
const isGivenBack = (index: number) => index % 5 === 0

it('takes each order once and loses no stock while catalog is killed again and again', async () => {
  const totals = new Map<string, Set<number>>()
  const receiver = await startReceiver()
  receiver.answerWith((response, { body }) => {
    const { id, total_stock } = JSON.parse(String(body)).data as Product
    totals.set(id, (totals.get(id) ?? new Set()).add(total_stock))
    response.writeHead(200).end()
  })
  await api('POST', '/v1/webhooks', { url: receiver.url, enabled_events: ['product.updated'] })
  const stocks = Array.from({ length: 20 }, (_, index) => (index < 2 ? 150 : 100_000))
  const products = await Promise.all(
    stocks.map(async (stock) => (await api<Product>('POST', '/v1/products', aProduct({ stock }))).body),
  )
  const variants = products.map(({ variants }) => variants[0]?.id ?? '')
  const orders = Array.from({ length: ORDERS }, (_, index) => ({
    order: randomUUID(),
    lines: [0, 1, 7].map((step) => ({ variant: variants[(index + step) % variants.length] ?? '', quantity: 1 + step })),
  }))

  const placed: Promise<number>[] = []
  for (const [index, { order, lines }] of orders.entries()) {
    placed.push(placeOrder(order, lines, index))
    if (KILL_AFTER.includes(index)) {
      stack.kill('catalog')
      // Waits for the new process, which the next kill is for.
      await catalog('/internal/stock/release', { order: randomUUID() })
    }
    await pause(EVERY_MS)
  }
  const statuses = await Promise.all(placed)
  expect(new Set(statuses)).toEqual(new Set([200, 409]))

  expect(await movementsOf(orders)).toEqual(
    orders.map(({ lines }, index) => {
      if (statuses[index] === 409) return { state: undefined, moved: {} }
      if (isGivenBack(index)) return { state: 'RELEASED', moved: { taken: lines.length, released: lines.length } }
      return { state: 'TAKEN', moved: { taken: lines.length } }
    }),
  )
  expect(await backofficeIn(stack.directory, 'checks', 'check-stock')).toMatch(
    /^check-stock: variants: \d{2,}, found: 0\n$/,
  )
  await eventually(
    'product.updated with the final stock of every product has arrived',
    async () => {
      const now = await stack.sql<{ product_id: string; stock: number }[]>`
        select product_id, stock::float8 as stock from catalog.variant where workspace_id = ${workspaceId}`
      return now.every(({ product_id, stock }) => totals.get(product_id)?.has(stock))
    },
    RECOVERY_MS,
  )
})

/** Each order's reservation state and number of movements by reason. Each movement must have its line's quantity. */
async function movementsOf(orders: readonly { order: string; lines: Line[] }[]) {
  const reservations = await stack.sql<{ order_id: string; state: string }[]>`
    select order_id, state from catalog.stock_reservation where workspace_id = ${workspaceId}`
  const states = new Map(reservations.map(({ order_id, state }) => [order_id, state]))
  const movements = await stack.sql<{ order_id: string; variant_id: string; reason: string; delta: number }[]>`
    select order_id, variant_id, reason, delta::float8 as delta from catalog.stock_movement
    where workspace_id = ${workspaceId} and order_id is not null`
  const byOrder = Map.groupBy(movements, ({ order_id }) => order_id)
  return orders.map(({ order, lines }) => {
    const moved: Record<string, number> = {}
    for (const { variant_id, reason, delta } of byOrder.get(order) ?? []) {
      const quantity = lines.find(({ variant }) => variant === variant_id)?.quantity ?? Number.NaN
      expect(delta).toBe(reason === 'taken' ? -quantity : quantity)
      moved[reason] = (moved[reason] ?? 0) + 1
    }
    return { state: states.get(order), moved }
  })
}
