import type { ErrorBody } from '@backoffice/contracts/errors.ts'
import type { Category, Product } from '@backoffice/contracts/product.ts'
import type { ProductState } from '@backoffice/contracts/product-records.ts'
import type { Caller } from '@backoffice/http/internal-token.ts'
import { testDatabase } from '@backoffice/testing/database.ts'
import { eventually } from '@backoffice/testing/eventually.ts'
import { serviceClient, type TestAnswer } from '@backoffice/testing/service-client.ts'
import { applyMemberChange } from '../../member-changes/apply-member-changes.ts'
import { operations } from '../../operations.ts'
import { refreshChunk } from '../../products/refresh-products.ts'
import { aSimpleProduct } from '../../products/testing/product-samples.ts'

/** The answer of a request that may be refused. */
export type MaybeRefused<Body> = TestAnswer<Body & ErrorBody>

/** The catalog's API over a test database, and queries for tests of categories and tags. */
export async function catalog() {
  const database = await testDatabase('catalog')
  const { admin, db } = database
  // Only uploads use what is left out.
  const send = serviceClient(db, operations({} as never))
  const contextOf = ({ workspaceId, livemode }: Caller) => ({ workspaceId, livemode, traceparent: 'trace' })

  return {
    ...database,
    send,
    contextOf,
    put: (caller: Caller, id: string, body: unknown): Promise<MaybeRefused<Category>> =>
      send(caller, 'PUT', `/v1/categories/${id}`, body),
    async newCategory(caller: Caller, members: Record<string, unknown> = {}): Promise<Category> {
      const answer = await send<Category>(caller, 'POST', '/v1/categories', { name: 'Cups', ...members })
      return answer.body
    },
    async newProduct(caller: Caller, members: Record<string, unknown> = {}): Promise<Product> {
      return (await send<Product>(caller, 'POST', '/v1/products', aSimpleProduct(members))).body
    },
    async product(caller: Caller, id: string): Promise<Product> {
      return (await send<Product>(caller, 'GET', `/v1/products/${id}`)).body
    },
    /** The outbox's records of a workspace, oldest first, without the creations that prepare a test. */
    async published(caller: Caller): Promise<{ type: string; key: string; payload: unknown }[]> {
      return admin`
        select type, key, payload from outbox
        where workspace_id = ${caller.workspaceId} and type not like '%.created' order by id`
    },
    /**
     * Makes all waiting changes of many products, publishes all products with a refresh request, and returns their
     * number.
     */
    async refresh(caller: Caller, now = new Date()): Promise<number> {
      let total = 0
      for (;;) {
        const isChanged = await db.inWorkspace(contextOf(caller), applyMemberChange)
        const refreshed = await db.inWorkspace(contextOf(caller), (tx) => refreshChunk(tx, now))
        if (refreshed === 0 && !isChanged) return total
        total += refreshed
      }
    },
    /** The newest state of a product that was published for projections. */
    async state(id: string): Promise<ProductState> {
      const [row] = await admin`
        select payload from outbox where key = ${id} and type = 'product.state' order by outbox.id desc limit 1`
      return row?.payload
    },
    /** Resolves once this many sessions wait for a lock. */
    waitingSessions: (count: number) =>
      eventually(`${count} sessions wait`, async () => {
        const waiting = await admin`
          select from pg_stat_activity where wait_event_type = 'Lock' and datname = current_database()`
        return waiting.length === count
      }),
  }
}
