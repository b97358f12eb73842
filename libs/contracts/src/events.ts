import { z } from 'zod'
import { RecordedAct } from './app.ts'
import { CollectionData } from './collection.ts'
import { CustomerData, CustomerErased } from './customer.ts'
import { EndpointState } from './endpoint-state.ts'
import { Id, Timestamp } from './fields.ts'
import { ImportData } from './import.ts'
import { BATCHES, ImportResult } from './imports.ts'
import { exampleOf, namedObject } from './named.ts'
import { FulfillmentData, InvoiceData, OrderData, ReservationReleased, StockReturned } from './order-records.ts'
import * as platform from './platform-events.ts'
import { CategoryData, ProductData, ProductState, TagData } from './product-records.ts'

/** The Kafka topics. */
export const TOPICS = {
  appsActs: 'apps.acts',
  catalogEvents: 'catalog.events',
  catalogProducts: 'catalog.products',
  collectionsEvents: 'collections.events',
  gatewayWorkspaces: 'gateway.workspaces',
  importsBatches: 'imports.batches',
  importsEvents: 'imports.events',
  importsResults: 'imports.results',
  ordersErasures: 'orders.erasures',
  ordersEvents: 'orders.events',
  ordersReservations: 'orders.reservations',
  ordersReturns: 'orders.returns',
  platformEvents: 'platform.events',
} as const
export type Topic = (typeof TOPICS)[keyof typeof TOPICS]

/** Topics whose records are delivered to webhook endpoints: `<service>.events`. */
export const EVENT_TOPICS: readonly Topic[] = Object.values(TOPICS).filter((topic) => topic.endsWith('.events'))

/** A record on Kafka, whatever its `data`. */
export const EventRecord = z.strictObject({
  id: Id,
  type: z.string(),
  workspace_id: Id,
  livemode: z.boolean(),
  occurred_at: Timestamp,
  data: z.unknown(),
})
export type EventRecord = z.output<typeof EventRecord>

/** The data of a deletion (OP-67). */
const Deleted = namedObject('Deleted', { id: Id }, { id: '0198c7a0-0000-7000-8000-000000000001' })

const record = <Type extends string, Data extends z.ZodType>(type: Type, data: Data) =>
  z.strictObject({ ...EventRecord.shape, type: z.literal(type), data })

/** The records of a topic, from their data by their types. */
const recordsOf = <Datas extends Record<string, z.ZodType>>(datas: Datas) =>
  Object.fromEntries(Object.entries(datas).map(([type, data]) => [type, record(type, data)])) as {
    [Type in keyof Datas & string]: ReturnType<typeof record<Type, Datas[Type]>>
  }

/** The data of a change of a workspace: the record itself names the workspace and says what became of it. */
const WorkspaceChanged = z.strictObject({})

/** The record types of each topic, as registered with the schema registry: subject `<topic>-<type>`. */
export const RECORDS = {
  [TOPICS.appsActs]: recordsOf({ 'act.recorded': RecordedAct }),
  [TOPICS.catalogEvents]: recordsOf({
    'product.created': ProductData,
    'product.updated': ProductData,
    'product.deleted': Deleted,
    'category.created': CategoryData,
    'category.updated': CategoryData,
    'category.deleted': CategoryData,
    'tag.created': TagData,
    'tag.deleted': TagData,
  }),
  [TOPICS.catalogProducts]: recordsOf({ 'product.state': ProductState }),
  [TOPICS.collectionsEvents]: recordsOf({
    'collection.created': CollectionData,
    'collection.updated': CollectionData,
    'collection.deleted': Deleted,
  }),
  [TOPICS.gatewayWorkspaces]: recordsOf({
    'workspace.suspended': WorkspaceChanged,
    'workspace.resumed': WorkspaceChanged,
    'workspace.deleted': WorkspaceChanged,
  }),
  [TOPICS.importsBatches]: recordsOf(BATCHES),
  [TOPICS.importsEvents]: recordsOf({ 'import.completed': ImportData }),
  [TOPICS.importsResults]: recordsOf({ 'batch.applied': ImportResult }),
  [TOPICS.ordersErasures]: recordsOf({ 'customer.erased': CustomerErased }),
  [TOPICS.ordersEvents]: recordsOf({
    'customer.created': CustomerData,
    'customer.updated': CustomerData,
    'order.created': OrderData,
    'order.updated': OrderData,
    'order.paid': OrderData,
    'invoice.paid': InvoiceData,
    'fulfillment.created': FulfillmentData,
  }),
  [TOPICS.ordersReservations]: recordsOf({ 'reservation.released': ReservationReleased }),
  [TOPICS.ordersReturns]: recordsOf({ 'stock.returned': StockReturned }),
  // Published from outside this repository (OP-69); the key is the resource's id.
  [TOPICS.platformEvents]: recordsOf({
    'bundle.updated': platform.Bundle,
    'component.created': platform.Component,
    'component.updated': platform.Component,
    'component.deleted': platform.DeletedComponent,
    'supplier.created': platform.Supplier,
    'supplier.updated': platform.Supplier,
    'supplier.deleted': platform.DeletedSupplier,
    'expense.created': platform.Expense,
    'expense.updated': platform.Expense,
    'expense.deleted': platform.Expense,
    'payment_milestone_template.created': platform.PaymentMilestoneTemplate,
    'payment_milestone_template.updated': platform.PaymentMilestoneTemplate,
    'payment_milestone_template.deleted': platform.DeletedPaymentMilestoneTemplate,
    'stock_count.closed': platform.StockCount,
    'stock_pool.adjusted': platform.StockPoolAdjustment,
    'assistant_task.created': platform.AssistantTask,
    'assistant_task.updated': platform.AssistantTask,
  }),
} satisfies Record<Topic, Record<string, z.ZodType>>

type Records = typeof RECORDS
export type RecordType<T extends Topic> = keyof Records[T] & string
export type RecordData<T extends Topic, Type extends RecordType<T>> =
  Records[T][Type] extends z.ZodType<infer R> ? (R extends { data: infer D } ? D : never) : never

/** The events that webhook-delivery makes itself: no topic carries them (OP-255). */
const ENDPOINT_EVENTS = recordsOf({
  'webhook.endpoint.failing': EndpointState,
  'webhook.endpoint.disabled': EndpointState,
  'webhook.endpoint.recovered': EndpointState,
})

interface CataloguedEvent {
  readonly topic?: Topic
  readonly record: z.ZodObject<{ data: z.ZodType }>
}

/** Every event by its name: its topic, if one carries it, and the shape of its record. */
export const EVENT_CATALOGUE: ReadonlyMap<string, CataloguedEvent> = new Map<string, CataloguedEvent>([
  ...EVENT_TOPICS.flatMap((topic) =>
    Object.entries<CataloguedEvent['record']>(RECORDS[topic]).map(
      ([type, record]) => [type, { topic, record }] as const,
    ),
  ),
  ...Object.entries(ENDPOINT_EVENTS).map(([type, record]) => [type, { record }] as const),
])

/** What the example of an event has that its data's own has not. */
const AS_IT_FIRES: Readonly<Record<string, object>> = {
  'order.created': { status: 'CART' },
  'order.paid': { payment_status: 'PAID' },
  'webhook.endpoint.disabled': { state: 'DISABLED' },
  'webhook.endpoint.recovered': { state: 'ACTIVE', reason: null },
}

/** The example of an event's data. */
export const exampleOfEvent = (type: string): object => ({
  ...(exampleOf<z.ZodType>(EVENT_CATALOGUE.get(type)?.record.shape.data ?? z.never()) as object),
  ...AS_IT_FIRES[type],
})

/** Every event of a subscription, and when it fires (spec: Event names and data; OP-68, OP-69, OP-255). */
export const EVENTS: Readonly<Record<string, string>> = {
  'product.created': 'A product is made.',
  'product.updated':
    'A product is changed. Also after its tag or category is deleted, an order moves its stock, or an image of an import comes.',
  'product.deleted': 'A product is deleted.',
  'collection.created': 'A collection is made.',
  'collection.updated': 'A collection itself is changed. Products that join or leave it fire nothing.',
  'collection.deleted': 'A collection is deleted.',
  'category.created': 'A category is made, also with a product that names it.',
  'category.updated': 'A category is changed, also when its parent is deleted.',
  'category.deleted': 'A category is deleted.',
  'tag.created': 'A tag is made with a product that names it.',
  'tag.deleted': 'A tag is deleted.',
  'bundle.updated': 'The members of a bundle change. Their prices and stock fire nothing.',
  'customer.created': 'A customer is made, also with an order.',
  'customer.updated': 'A customer is changed.',
  'order.created': 'An order comes to be, at the cart stage.',
  'order.updated': 'An order changes. Its `status` distinguishes orders from carts.',
  'order.paid': 'An order becomes fully paid. `invoice.paid` accompanies it.',
  'invoice.paid': 'For each issued invoice, when its order becomes fully paid.',
  'fulfillment.created': 'Goods of an order are sent.',
  'component.created': 'A material or supply is made.',
  'component.updated': 'A material or supply is changed.',
  'component.deleted': 'A material or supply is deleted. `data` may be `{id}` alone.',
  'supplier.created': 'A supplier is made.',
  'supplier.updated': 'A supplier is changed.',
  'supplier.deleted': 'A supplier is deleted. `data` may be `{id}` alone.',
  'expense.created': 'An expense is made.',
  'expense.updated': 'An expense is changed.',
  'expense.deleted': 'An expense is deleted.',
  'payment_milestone_template.created': 'A template of payment milestones is made.',
  'payment_milestone_template.updated': 'A template of payment milestones is changed.',
  'payment_milestone_template.deleted': 'A template of payment milestones is deleted. `data` may be `{id}` alone.',
  'stock_count.closed': 'A stock count is closed. Counting a line fires nothing.',
  'stock_pool.adjusted': 'Stock is moved between pools.',
  'assistant_task.created': 'A task of the assistant is made.',
  'assistant_task.updated': 'A task of the assistant is changed.',
  'import.completed': 'Once per bulk import that was started, however it ended. Its rows fire nothing.',
  'webhook.endpoint.failing': 'Another endpoint of the workspace fails.',
  'webhook.endpoint.disabled': 'Another endpoint of the workspace is disabled.',
  'webhook.endpoint.recovered': 'Another endpoint of the workspace takes deliveries again.',
}

export const EVENT_TYPES: readonly string[] = Object.keys(EVENTS)
