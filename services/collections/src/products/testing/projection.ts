import { TOPICS } from '@backoffice/contracts/events.ts'
import type { ProductState } from '@backoffice/contracts/product-records.ts'
import type { OutgoingRecord } from '@backoffice/messaging/kafka/kafka-connection.ts'
import type { Sql } from '@backoffice/postgres/database.ts'
import { inTransaction } from '@backoffice/postgres/transaction.ts'
import { ruleSets } from '../../memberships/rule-sets.ts'
import { StateRecord } from '../product-state.ts'
import { projectProducts } from '../project-products.ts'

/** A product's state, or the id of a deleted product, with its workspace. */
export interface PublishedProduct {
  readonly workspaceId: string
  readonly product: ProductState | string
}

const keyOf = ({ product }: PublishedProduct): string => (typeof product === 'string' ? product : product.id)
const recordValueOf = ({ workspaceId, product }: PublishedProduct) =>
  typeof product === 'string' ? null : { workspace_id: workspaceId, data: product }

/** Returns a function that handles records of one partition as the consumer does, with a rule cache of its own. */
export function projector(sql: Sql) {
  const projection = projectProducts(ruleSets())
  return (published: readonly PublishedProduct[], partition = 0) => {
    const records = published.map((one) => ({
      topic: TOPICS.catalogProducts,
      partition,
      offset: '0',
      key: keyOf(one),
      value: StateRecord.parse(recordValueOf(one)),
      traceparent: undefined,
    }))
    return inTransaction(sql, (tx) => projection.handle(records, tx))
  }
}

/** A record as the catalog publishes it. */
export const recordOf = (published: PublishedProduct): OutgoingRecord => {
  const value = recordValueOf(published)
  return { topic: TOPICS.catalogProducts, key: keyOf(published), value: value && encoded(value), headers: {} }
}

const encoded = (value: unknown) => Buffer.concat([Buffer.from([0, 0, 0, 0, 1]), Buffer.from(JSON.stringify(value))])
