import { randomUUID } from 'node:crypto'
import type { Collection } from '@backoffice/contracts/collection.ts'
import type { Page } from '@backoffice/contracts/pagination.ts'
import type { Product } from '@backoffice/contracts/product.ts'
import type { ProductState } from '@backoffice/contracts/product-records.ts'
import type { InternalCalls } from '@backoffice/http/internal-calls.ts'
import type { Caller } from '@backoffice/http/internal-token.ts'
import { openDatabase } from '@backoffice/postgres/database.ts'
import { inTransaction } from '@backoffice/postgres/transaction.ts'
import { createLogger } from '@backoffice/runtime/logger.ts'
import { testDatabase } from '@backoffice/testing/database.ts'
import { serviceClient } from '@backoffice/testing/service-client.ts'
import { whenDone } from '@backoffice/testing/when-done.ts'
import { v7 as uuidv7 } from 'uuid'
import type { z } from 'zod'
import { completePendingProducts } from '../members/pending-products.ts'
import { membershipDifferences } from '../memberships/check-members.ts'
import { membershipBuilder } from '../memberships/membership-builder.ts'
import { ruleSets } from '../memberships/rule-sets.ts'
import { operations } from '../operations.ts'
import { applyQueuedOf } from '../products/apply-queued-batch.ts'
import { applyQueuedProducts } from '../products/apply-queued-products.ts'
import { projectProducts } from '../products/project-products.ts'

const logger = createLogger('test', 'silent')

export type ProductPage = z.output<ReturnType<typeof Page<typeof Product>>>
export type CollectionPage = z.output<ReturnType<typeof Page<typeof Collection>>>

/** A product's state as the catalog publishes it. */
export const aProductState = (differences: Partial<ProductState> = {}): ProductState => {
  const id = differences.id ?? uuidv7()
  return {
    id,
    name: 'Shirt',
    slug: `shirt-${id}`,
    status: 'ACTIVE',
    type: 'SIMPLE_PRODUCT',
    description: null,
    category: null,
    categories: [],
    tags: [],
    requires_shipping: true,
    can_preorder: false,
    total_stock: 5,
    price_range: { min: { EUR: 1000 }, max: { EUR: 1000 } },
    options: [],
    media: [],
    variants: [{ id: randomUUID(), sku: `SKU-${id}`, stock: 5, price: { EUR: 1000 }, cost: {}, attributes: {} }],
    created_at: new Date().toISOString(),
    updated_at: new Date().toISOString(),
    version: 1,
    ...differences,
  }
}

/** For tests without a catalog: the workspace has no products but those of the projection. */
const noCatalog = { send: async () => ({ products: [] }) } as unknown as InternalCalls

/**
 * The service with a database of its own. `catalog` replaces the calls to the catalog, `clock` the process's clock.
 */
export async function collectionsService(catalog = noCatalog, clock?: () => Date) {
  const database = await testDatabase('collections')
  const worker = openDatabase({ url: database.workerUrl, applicationName: 'test worker' })
  whenDone(async () => worker.stop?.())
  const send = serviceClient(database.db, operations(catalog), clock)
  const rules = ruleSets()
  const projection = projectProducts(rules)

  /** Handles records as the consumer does, states or ids of deleted products, and applies those that it queued. */
  const project = async (caller: Pick<Caller, 'workspaceId'>, ...states: (ProductState | string)[]) => {
    const records = states.map((state) => ({
      topic: 'catalog.products',
      partition: 0,
      offset: '0',
      traceparent: undefined,
      ...(typeof state === 'string'
        ? { key: state, value: null }
        : { key: state.id, value: { workspace_id: caller.workspaceId, data: state } }),
    }))
    const onQueued = await inTransaction(worker.sql, (tx) => projection.handle(records, tx))
    const { workspaceId } = caller
    const isQueued = async () =>
      (await worker.sql`select from queued_product where workspace_id = ${workspaceId}`).length > 0
    while (onQueued && (await isQueued())) await applyQueuedOf(worker.sql, rules, { workspaceId, size: records.length })
  }

  return {
    ...database,
    worker,
    send,
    project,
    /** Adds products with these names to the projection. */
    products: async (caller: Caller, ...names: string[]): Promise<ProductState[]> => {
      const states = names.map((name) => aProductState({ name }))
      await project(caller, ...states)
      return states
    },
    /** The workspace's records in the outbox, oldest first. */
    published: (caller: Caller) =>
      database.admin<{ type: string; key: string; payload: unknown; livemode: boolean }[]>`
        select type, key, payload, livemode from outbox where workspace_id = ${caller.workspaceId} order by id`,
    /** The differences between the stored and the evaluated memberships, of all workspaces or of one. */
    membershipDifferences: async (caller?: Caller) => {
      const all = await inTransaction(worker.sql, (tx) => Array.fromAsync(membershipDifferences(tx)))
      return all.filter(({ workspace }) => caller === undefined || workspace === caller.workspaceId)
    },
    /** Creates a published collection. */
    create: async (caller: Caller, differences: Record<string, unknown> = {}): Promise<Collection> =>
      (await send<Collection>(caller, 'POST', '/v1/collections', { name: 'Summer', published: true, ...differences }))
        .body,
    /** The names of a collection's products, in its order. */
    productsOf: async (caller: Caller, { id }: { id: string }): Promise<string[]> =>
      (await send<ProductPage>(caller, 'GET', `/v1/collections/${id}/products?limit=100`)).body.items.map(
        ({ name }) => name,
      ),
    startBuilder: async () => {
      const builder = membershipBuilder(worker.sql, logger)
      await builder.start?.()
      whenDone(async () => builder.stop?.())
      return builder
    },
    /** Starts the worker that completes pending products, as a replica does. */
    startCompletingPending: async () => {
      const completing = completePendingProducts(worker.sql, logger)
      await completing.start?.()
      whenDone(async () => completing.stop?.())
      return completing
    },
    /** Starts the workers that apply queued products, as a replica does. */
    startQueue: async () => {
      for (const each of applyQueuedProducts(worker.sql, rules, logger)) {
        await each.start?.()
        whenDone(async () => each.stop?.())
      }
    },
  }
}
