import { TOPICS } from '@backoffice/contracts/events.ts'
import type { Product } from '@backoffice/contracts/product.ts'
import { type OutboxRecord, outboxRecord, tombstone } from '@backoffice/postgres/outbox.ts'
import { type ProductRecord, productBody, productState } from './product-view.ts'
import type { MadeReferences } from './references.ts'

/** What a new product tells: the event with its body, and its state for projections. */
export const productCreated = (product: ProductRecord, body: Product): OutboxRecord[] => [
  outboxRecord(TOPICS.catalogEvents, 'product.created', product.id, body),
  productStateRecord(product, body),
]

/** What a changed product tells, tagging and untagging included (spec: Event names and data; OP-67). */
export const productUpdated = (product: ProductRecord, body = productBody(product)): OutboxRecord[] => [
  outboxRecord(TOPICS.catalogEvents, 'product.updated', product.id, body),
  productStateRecord(product, body),
]

/** What a deleted product tells (OP-17): the event, and the end of its state. */
export const productDeleted = (id: string): OutboxRecord[] => [
  outboxRecord(TOPICS.catalogEvents, 'product.deleted', id, { id }),
  tombstone(TOPICS.catalogProducts, 'product.state', id),
]

/** The state for projections by itself: for changes that fire no event, such as an import's (OP-72). */
export const productStateRecord = (product: ProductRecord, body = productBody(product)): OutboxRecord =>
  outboxRecord(TOPICS.catalogProducts, 'product.state', product.id, productState(product, body))

/** What is told of categories and tags made on the way (OP-25). */
export const referencesCreated = (made: MadeReferences): OutboxRecord[] => [
  ...made.categories.map((category) =>
    outboxRecord(TOPICS.catalogEvents, 'category.created', category.id, { ...category, parent: null, position: 0 }),
  ),
  ...made.tags.map((tag) => outboxRecord(TOPICS.catalogEvents, 'tag.created', tag.id, tag)),
]
