import { z } from 'zod'
import { Collection } from './collection.ts'
import { Id, Timestamp } from './fields.ts'
import { CategoryBatch, CollectionBatch, ImportResult, ProductBatch, StockBatch, VariantBatch } from './imports.ts'
import {
  AssistantTask,
  Bundle,
  Component,
  DeletedComponent,
  DeletedPaymentMilestoneTemplate,
  DeletedSupplier,
  Expense,
  PaymentMilestoneTemplate,
  StockCount,
  StockPoolAdjustment,
  Supplier,
} from './platform-events.ts'
import { Category, Product, ProductState, Tag } from './product.ts'

/** Kafka topics by what they carry. */
export const TOPICS = {
  catalogEvents: 'catalog.events',
  catalogProducts: 'catalog.products',
  collectionsEvents: 'collections.events',
  importsBatches: 'imports.batches',
  importsResults: 'imports.results',
  platformEvents: 'platform.events',
} as const
export type Topic = (typeof TOPICS)[keyof typeof TOPICS]

/** Topics whose records are delivered to webhook endpoints. */
export const EVENT_TOPICS: readonly Topic[] = [TOPICS.catalogEvents, TOPICS.collectionsEvents, TOPICS.platformEvents]

/** What every record on Kafka looks like, whatever its `data`. */
export const EventRecord = z.strictObject({
  id: Id,
  type: z.string(),
  workspace_id: Id,
  livemode: z.boolean(),
  occurred_at: Timestamp,
  data: z.unknown(),
})
export type EventRecord = z.output<typeof EventRecord>

/** What is told of a resource that is gone (OP-67). */
const Deleted = z.strictObject({ id: Id })

const record = <Type extends string, Data extends z.ZodType>(type: Type, data: Data) =>
  z.strictObject({ ...EventRecord.shape, type: z.literal(type), data })

/** The record types of each topic, as registered with the schema registry: subject `<topic>-<type>`. */
export const RECORDS = {
  [TOPICS.catalogEvents]: {
    'product.created': record('product.created', Product),
    'product.updated': record('product.updated', Product),
    'product.deleted': record('product.deleted', Deleted),
    'category.created': record('category.created', Category),
    'category.updated': record('category.updated', Category),
    'category.deleted': record('category.deleted', Category),
    'tag.created': record('tag.created', Tag),
    'tag.deleted': record('tag.deleted', Tag),
  },
  [TOPICS.catalogProducts]: {
    'product.state': record('product.state', ProductState),
  },
  [TOPICS.collectionsEvents]: {
    'collection.created': record('collection.created', Collection),
    'collection.updated': record('collection.updated', Collection),
    'collection.deleted': record('collection.deleted', Deleted),
  },
  [TOPICS.importsBatches]: {
    'batch.products': record('batch.products', ProductBatch),
    'batch.product_variants': record('batch.product_variants', VariantBatch),
    'batch.stock': record('batch.stock', StockBatch),
    'batch.categories': record('batch.categories', CategoryBatch),
    'batch.collections': record('batch.collections', CollectionBatch),
  },
  [TOPICS.importsResults]: {
    'batch.applied': record('batch.applied', ImportResult),
  },
  // Published from outside this repository (OP-69); the key is the resource's id.
  [TOPICS.platformEvents]: {
    'bundle.updated': record('bundle.updated', Bundle),
    'component.created': record('component.created', Component),
    'component.updated': record('component.updated', Component),
    'component.deleted': record('component.deleted', DeletedComponent),
    'supplier.created': record('supplier.created', Supplier),
    'supplier.updated': record('supplier.updated', Supplier),
    'supplier.deleted': record('supplier.deleted', DeletedSupplier),
    'expense.created': record('expense.created', Expense),
    'expense.updated': record('expense.updated', Expense),
    'expense.deleted': record('expense.deleted', Deleted),
    'payment_milestone_template.created': record('payment_milestone_template.created', PaymentMilestoneTemplate),
    'payment_milestone_template.updated': record('payment_milestone_template.updated', PaymentMilestoneTemplate),
    'payment_milestone_template.deleted': record('payment_milestone_template.deleted', DeletedPaymentMilestoneTemplate),
    'stock_count.closed': record('stock_count.closed', StockCount),
    'stock_pool.adjusted': record('stock_pool.adjusted', StockPoolAdjustment),
    'assistant_task.created': record('assistant_task.created', AssistantTask),
    'assistant_task.updated': record('assistant_task.updated', AssistantTask),
  },
} satisfies Record<Topic, Record<string, z.ZodType>>

type Records = typeof RECORDS
/** The record types a topic carries. */
export type RecordType<T extends Topic> = keyof Records[T] & string
/** The `data` of one record type of a topic. */
export type RecordData<T extends Topic, Type extends RecordType<T>> =
  Records[T][Type] extends z.ZodType<infer R> ? (R extends { data: infer D } ? D : never) : never

const lifecycle = (resource: string, ...participles: string[]) => participles.map((word) => `${resource}.${word}`)

/** Every event name an endpoint can subscribe to (spec: Event names and data; OP-68, OP-69). */
export const EVENT_TYPES: readonly string[] = [
  ...lifecycle('product', 'created', 'updated', 'deleted'),
  ...lifecycle('collection', 'created', 'updated', 'deleted'),
  ...lifecycle('category', 'created', 'updated', 'deleted'),
  ...lifecycle('tag', 'created', 'deleted'),
  ...lifecycle('bundle', 'updated'),
  ...lifecycle('customer', 'created', 'updated'),
  ...lifecycle('order', 'created', 'updated', 'paid'),
  ...lifecycle('invoice', 'paid'),
  ...lifecycle('fulfillment', 'created'),
  ...lifecycle('component', 'created', 'updated', 'deleted'),
  ...lifecycle('supplier', 'created', 'updated', 'deleted'),
  ...lifecycle('expense', 'created', 'updated', 'deleted'),
  ...lifecycle('payment_milestone_template', 'created', 'updated', 'deleted'),
  ...lifecycle('stock_count', 'closed'),
  ...lifecycle('stock_pool', 'adjusted'),
  ...lifecycle('assistant_task', 'created', 'updated'),
  ...lifecycle('import', 'completed'),
]
