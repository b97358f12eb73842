import { randomUUID, randomUUIDv7 } from 'node:crypto'
import { type EventRecord, TOPICS } from '@backoffice/contracts/events.ts'
import type { ProductData } from '@backoffice/contracts/product-records.ts'
import type { StackDescription } from '@backoffice/local/stack-file.ts'
import { connectKafka } from '@backoffice/messaging/kafka/kafka.ts'
import type { OutgoingRecord } from '@backoffice/messaging/kafka/kafka-connection.ts'
import { recordSerializer } from '@backoffice/messaging/registry/schema-registry.ts'
import { createLogger } from '@backoffice/runtime/logger.ts'

/** The size in bytes of the POST body of an event. */
const BODY_BYTES = 1200
const RECORDS_A_REQUEST = 500

/** A product.updated of a new product, or of that with the given id. */
export const anEvent = (workspaceId: string, productId = randomUUID()) => eventOf(workspaceId, PADDING, productId)

/** The body of an event's deliveries. */
export const bodyOf = ({ id, type, occurred_at, livemode, data }: EventRecord): string =>
  JSON.stringify({ id, type, timestamp: occurred_at, livemode, data })

const eventOf = (workspaceId: string, description: string, productId: string = randomUUID()) => ({
  id: randomUUIDv7(),
  type: 'product.updated',
  workspace_id: workspaceId,
  livemode: true,
  occurred_at: new Date().toISOString(),
  data: productOf(productId, description),
})

const productOf = (id: string, description: string): ProductData => ({
  id,
  name: 'Aso-oke cap',
  status: 'ACTIVE',
  type: 'VARIABLE_PRODUCT',
  description,
  category: null,
  categories: [],
  requires_shipping: true,
  can_preorder: false,
  total_stock: 12,
  price_range: { min: { NGN: 450_000 }, max: { NGN: 450_000 } },
  options: [{ id: OPTION, name: 'Size', values: ['M', 'L'] }],
  media: [],
  variants: ['M', 'L'].map((size) => ({
    id: randomUUID(),
    sku: `CAP-${size}`,
    stock: 6,
    price: { NGN: 450_000 },
    attributes: { [OPTION]: size },
  })),
  created_at: '2026-01-01T00:00:00.000Z',
  updated_at: '2026-01-01T00:00:00.000Z',
})

const OPTION = randomUUID()
const PADDING = 'x'.repeat(BODY_BYTES - bodyOf(eventOf('', '')).length)

type ProductEvent = ReturnType<typeof anEvent>

/** Publishes events of products as the catalog's relay does. */
export async function eventPublisher({ kafka: brokers, registry }: StackDescription) {
  const kafka = connectKafka({ brokers, clientId: 'bench', logger: createLogger('bench', 'warn') })
  const topic = TOPICS.catalogEvents
  // The header of the wire format has the id of the record's schema: all records of a type have the same.
  const header = (await recordSerializer(registry)(topic, anEvent(randomUUID()))).subarray(0, 5)
  const recordOf = (event: ProductEvent): OutgoingRecord => ({
    topic,
    key: event.data.id,
    value: Buffer.concat([header, Buffer.from(JSON.stringify(event))]),
    headers: { traceparent: '00-0123456789abcdef0123456789abcdef-0123456789abcdef-01' },
  })
  const publishAll = async (events: readonly ProductEvent[]) => {
    for (let from = 0; from < events.length; from += RECORDS_A_REQUEST)
      await kafka.produce(events.slice(from, from + RECORDS_A_REQUEST).map(recordOf))
  }
  return {
    publish: (event: ProductEvent) => kafka.produce([recordOf(event)]),
    publishAll,
    /** Publishes `count` events, of the workspaces in turn. */
    publishMany: (workspaceIds: readonly string[], count: number) =>
      publishAll(Array.from({ length: count }, (_, index) => anEvent(workspaceIds[index % workspaceIds.length] ?? ''))),
    stop: () => kafka.stop(),
  }
}
