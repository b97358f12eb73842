import { randomUUID } from 'node:crypto'
import { setTimeout as pause } from 'node:timers/promises'
import type { Product } from '@backoffice/contracts/product.ts'
import { eventually } from '@backoffice/testing/eventually.ts'
import { expect } from 'vitest'
import type { Answer, apiWith, Refusal } from './api.ts'
import { backofficeIn } from './backoffice.ts'
import { aProduct } from './products.ts'
import type { TestStack } from './stack.ts'

const RECOVERY_MS = 180_000

/** An order or a refusal. */
export type Placed = Answer<{ id: string; status: string; note: string | null; items: { id: string }[] } & Refusal>

/** Places orders in a workspace, and checks what is left of them. */
export function ordersOf(stack: TestStack, api: ReturnType<typeof apiWith>) {
  const place = (items: readonly unknown[], members: Record<string, unknown> = {}, headers = {}): Promise<Placed> =>
    api('POST', '/v1/orders', { currency: 'NGN', items, status: 'PLACED', ...members }, headers)

  /** Sends a request with an Idempotency-Key, again and again until it is answered. */
  const surely = async <Body>(key: string, send: (headers: Record<string, string>) => Promise<Answer<Body>>) => {
    const deadline = performance.now() + RECOVERY_MS
    for (;;) {
      const answer = await send({ 'idempotency-key': key }).catch(() => undefined)
      // 429: the request waited 3 s for a lock and changed nothing (OP-162).
      if (answer !== undefined && answer.status < 500 && answer.status !== 429) return answer
      if (performance.now() > deadline) throw new Error(`${key} is not answered: ${JSON.stringify(answer?.body)}`)
      await pause(100)
    }
  }

  return {
    place,
    /** Places an order; surely. The key is the order's note. */
    placeSurely: (key: string, items: readonly unknown[]): Promise<Placed> =>
      surely(key, (headers) => place(items, { note: key }, headers)),
    /** Cancels one of an order's first line, or sends it and takes it back to be sold again; surely. */
    reduceSurely: async ({ id, items: [line] }: Placed['body'], isSent: boolean): Promise<void> => {
      const reference = randomUUID()
      const post = async (path: string, item: object, members: object = {}) => {
        const body = { items: [{ id: line?.id, quantity: 1, ...item }], ...members }
        const { status } = await surely(randomUUID(), (headers) =>
          api('POST', `/v1/orders/${id}/${path}`, body, headers),
        )
        expect([path, status]).toEqual([path, 201])
      }
      if (!isSent) return post('cancellations', {}, { reference })
      await post('fulfillments', {})
      await post('returns', { restock: true }, { reference })
    },
    /** Creates a product with so much stock. Returns the id of its variant. */
    variant: async (stock: number): Promise<string> => {
      const { body } = await api<Product>('POST', '/v1/products', aProduct({ stock }))
      return body.variants[0]?.id ?? ''
    },
    /** The stock of each variant at catalog, and what placed orders hold of it. */
    stocks: async (variants: readonly string[]): Promise<{ stock: number; held: number }[]> => {
      const rows = await stack.sql<{ id: string; stock: number; held: number }[]>`
        select variant.id, stock::float8 as stock, coalesce((
          select sum(quantity) from orders.order_item
          join orders.reservation using (workspace_id, order_id)
          where state = 'HELD' and variant_id = variant.id
        ), 0)::float8 as held
        from catalog.variant as variant where id = any(${variants as string[]}::uuid[])`
      return variants.map((variant) => {
        const { stock, held } = rows.find(({ id }) => id === variant) ?? { stock: Number.NaN, held: Number.NaN }
        return { stock, held }
      })
    },
    /** Waits until all left-overs are released; then both checks must find nothing. */
    untilClean: async (): Promise<void> => {
      await eventually(
        'no reservation is left at TAKING',
        async () => (await stack.sql`select from orders.reservation where state = 'TAKING' limit 1`).length === 0,
        RECOVERY_MS,
      )
      const found = await eventually(
        'check-orders finds nothing, also nothing too young to judge',
        async () => {
          const output = await backofficeIn(stack.directory, 'checks', 'check-orders').catch(({ message }) =>
            console.log(message),
          )
          // One line: a finding that is too young has another one.
          return /^check-orders: .*, found: 0\n$/.test(output ?? '') && output
        },
        RECOVERY_MS,
      )
      console.log(found, '|', await backofficeIn(stack.directory, 'checks', 'check-stock'))
    },
  }
}
