import { randomUUID, randomUUIDv7 } from 'node:crypto'
import { TOPICS } from '@backoffice/contracts/events.ts'
import type { CategoryReference } from '@backoffice/contracts/product.ts'
import type { ProductData, ProductState } from '@backoffice/contracts/product-records.ts'
import type { StackDescription } from '@backoffice/local/stack-file.ts'
import { connectKafka } from '@backoffice/messaging/kafka/kafka.ts'
import type { OutgoingRecord } from '@backoffice/messaging/kafka/kafka-connection.ts'
import { recordSerializer } from '@backoffice/messaging/registry/schema-registry.ts'
import { createLogger } from '@backoffice/runtime/logger.ts'

const RECORDS_A_REQUEST = 500
export const DESCRIPTION = 'Hand-woven, dyed with indigo and finished by hand. '.repeat(6)

/** A product's state as the catalog publishes it, from the product's body. */
export const stateOf = (body: ProductData, version: number, categories: CategoryReference[]): ProductState => ({
  ...body,
  category: categories[0]?.name ?? null,
  categories,
  slug: `product-${body.id}`,
  tags: [],
  variants: body.variants.map((variant) => ({ ...variant, cost: {} })),
  version,
})

/** A new product. */
export function aBody(): ProductData {
  const id = randomUUIDv7()
  const at = new Date().toISOString()
  const price = { NGN: 450_000 }
  return {
    id,
    name: `Enamel mug ${id}`,
    status: 'ACTIVE',
    type: 'SIMPLE_PRODUCT',
    description: DESCRIPTION,
    category: null,
    categories: [],
    requires_shipping: true,
    can_preorder: false,
    total_stock: 6,
    price_range: { min: price, max: price },
    options: [],
    media: [],
    variants: [{ id: randomUUID(), sku: `MUG-${id}`, stock: 6, price, attributes: {} }],
    created_at: at,
    updated_at: at,
  }
}

/** Publishes states of a workspace's products as the catalog's relay does, to the topic with this prefix. */
export async function statePublisher({ kafka: brokers, registry }: StackDescription, workspaceId: string, prefix = '') {
  const kafka = connectKafka({ brokers, clientId: 'bench', prefix, logger: createLogger('bench', 'warn') })
  const topic = TOPICS.catalogProducts
  const eventOf = (data: ProductState) => ({
    id: randomUUIDv7(),
    type: 'product.state' as const,
    workspace_id: workspaceId,
    livemode: true,
    occurred_at: new Date().toISOString(),
    data,
  })
  // The header of the wire format has the id of the record's schema: all records of a type have the same.
  const example = eventOf(stateOf(aBody(), 1, []))
  const header = (await recordSerializer(registry)(topic, example)).subarray(0, 5)
  const recordOf = (state: ProductState): OutgoingRecord => ({
    topic,
    key: state.id,
    value: Buffer.concat([header, Buffer.from(JSON.stringify(eventOf(state)))]),
    headers: { traceparent: '00-0123456789abcdef0123456789abcdef-0123456789abcdef-01' },
  })
  return {
    publish: (state: ProductState) => kafka.produce([recordOf(state)]),
    /** Publishes `count` products. */
    async publishMany(count: number): Promise<void> {
      for (let from = 0; from < count; from += RECORDS_A_REQUEST) {
        const length = Math.min(RECORDS_A_REQUEST, count - from)
        await kafka.produce(Array.from({ length }, () => recordOf(stateOf(aBody(), 1, []))))
      }
    },
    stop: () => kafka.stop(),
  }
}
