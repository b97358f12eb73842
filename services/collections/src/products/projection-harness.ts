import { TOPICS } from '@backoffice/contracts/events.ts'
import type { ProductState } from '@backoffice/contracts/product.ts'
import type { OutgoingRecord } from '@backoffice/messaging/kafka-connection.ts'
import type { Sql } from '@backoffice/postgres/database.ts'
import { inTransaction } from '@backoffice/postgres/transaction.ts'
import { ruleSets } from '../members/rule-sets.ts'
import { StateRecord } from './product-state.ts'
import { projectProducts } from './project-products.ts'

/** What is told of a product of a workspace; the id of one that is deleted. */
export interface Told {
  readonly workspaceId: string
  readonly product: ProductState | string
}

const keyOf = ({ product }: Told): string => (typeof product === 'string' ? product : product.id)
const toldOf = ({ workspaceId, product }: Told) =>
  typeof product === 'string' ? null : { workspace_id: workspaceId, data: product }

/** Hands over records of one partition as the consumer does, again when it would; each projector keeps its own rules. */
export function projector(sql: Sql) {
  const projection = projectProducts(ruleSets())
  return (told: readonly Told[], partition = 0) => {
    const records = told.map((one) => ({
      topic: TOPICS.catalogProducts,
      partition,
      offset: '0',
      key: keyOf(one),
      value: StateRecord.parse(toldOf(one)),
      traceparent: undefined,
    }))
    return inTransaction(sql, (tx) => projection.handle(records, tx))
  }
}

/** A record as the catalog publishes it. */
export const recordOf = (told: Told): OutgoingRecord => {
  const value = toldOf(told)
  return { topic: TOPICS.catalogProducts, key: keyOf(told), value: value && encoded(value), headers: {} }
}

const encoded = (value: unknown) => Buffer.concat([Buffer.from([0, 0, 0, 0, 1]), Buffer.from(JSON.stringify(value))])
