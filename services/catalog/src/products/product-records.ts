import { TOPICS } from '@backoffice/contracts/events.ts'
import { type OutboxRecord, outboxRecord, tombstone } from '@backoffice/postgres/outbox.ts'
import { type ProductRecord, productBody, productState } from './product-view.ts'
import type { CreatedReferences } from './references.ts'

/**
 * The records of a new or changed product, tagging and untagging included (spec: Event names and data; OP-67): the
 * event with its body, and its state for projections.
 */
export function eventAndState(type: 'product.created' | 'product.updated', product: ProductRecord): OutboxRecord[] {
  const body = productBody(product)
  return [
    outboxRecord(TOPICS.catalogEvents, type, product.id, body, product.updatedAt),
    productStateRecord(product, body),
  ]
}

/** The records of a deleted product (OP-17): the event, and the end of its state. */
export const productDeleted = (id: string): OutboxRecord[] => [
  outboxRecord(TOPICS.catalogEvents, 'product.deleted', id, { id }),
  productTombstone(id),
]

/** The end of a product's state by itself: for deletions that fire no event, such as the undo of an import. */
export const productTombstone = (id: string): OutboxRecord => tombstone(TOPICS.catalogProducts, 'product.state', id)

/** The state for projections by itself: for changes that fire no event, such as an import's (OP-72). */
export const productStateRecord = (product: ProductRecord, body = productBody(product)): OutboxRecord =>
  outboxRecord(TOPICS.catalogProducts, 'product.state', product.id, productState(product, body))

/** The events of categories and tags that were created for a product (OP-25). */
export const referencesCreated = ({ categories, tags }: CreatedReferences): OutboxRecord[] => [
  ...categories.map(({ parent_slug: _, ...category }) =>
    outboxRecord(TOPICS.catalogEvents, 'category.created', category.id, { ...category, position: 0 }),
  ),
  ...tags.map((tag) => outboxRecord(TOPICS.catalogEvents, 'tag.created', tag.id, tag)),
]
