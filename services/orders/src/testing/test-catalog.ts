import { mkdtemp } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Product } from '@backoffice/contracts/product.ts'
import { SERVICES } from '@backoffice/contracts/services.ts'
import type { Caller } from '@backoffice/http/internal-token.ts'
import { createTopics } from '@backoffice/messaging/kafka/create-topics.ts'
import { backingServices } from '@backoffice/testing/backing-services.ts'
import { headersFor } from '@backoffice/testing/caller.ts'
import { testDatabase } from '@backoffice/testing/database.ts'
import { guardFolder } from '@backoffice/testing/processes/guard.ts'
import { startServiceProcess } from '@backoffice/testing/service-process.ts'
import { keptByWorker } from '@backoffice/testing/when-done.ts'
import type { CallLimits } from '../catalog/catalog-client.ts'

/** Limits of calls that a busy machine does not reach. */
export const PATIENT: CallLimits = {
  deadlineMs: 30_000,
  failures: 10,
  halfOpenAfterMs: 1000,
  slots: { slots: 64, share: 16, most: 16, waiting: 256, waitMs: 30_000 },
}

/** A running catalog with a database and topics of its own, which the tests of a worker share. */
export const testCatalog = keptByWorker(async () => {
  const { admin, appUrl, workerUrl } = await testDatabase('catalog')
  const directory = await mkdtemp(join(tmpdir(), 'catalog-'))
  guardFolder(directory)
  const brokers = backingServices().kafkaBrokers
  const prefix = `catalog-${crypto.randomUUID()}.`
  const consumed = Object.entries(SERVICES.catalog.consumers).flatMap(([consumer, topics]) => [
    ...topics,
    `catalog.${consumer}.dead-letters`,
  ])
  const topics = [...new Set([...SERVICES.catalog.publishes, ...consumed])]
  const settings = topics.map((name) => ({ name, partitions: 1, config: {} }))
  await createTopics(brokers, settings, { prefix, replicationFactor: 1 })
  const running = await startServiceProcess('catalog', {
    DATABASE_URL: appUrl,
    WORKER_DATABASE_URL: workerUrl,
    KAFKA_BROKERS: brokers.join(','),
    KAFKA_PREFIX: prefix,
    SCHEMA_REGISTRY_URL: backingServices().registryUrl,
    ASSETS_DIRECTORY: directory,
    ASSETS_URL: 'http://127.0.0.1/assets',
  })
  await running.ready()
  const { url } = running

  const send = async <Body>(caller: Caller, method: string, path: string, body?: unknown): Promise<Body> => {
    const response = await fetch(`${url}${path}`, {
      method,
      headers: {
        ...(await headersFor(path)(caller, 'catalog')),
        ...(body !== undefined && { 'content-type': 'application/json' }),
      },
      ...(body !== undefined && { body: JSON.stringify(body) }),
    })
    const text = await response.text()
    if (!response.ok) throw new Error(`${method} ${path}: ${response.status} ${text}`)
    return (text === '' ? undefined : JSON.parse(text)) as Body
  }

  return {
    url,
    /** Connects to its database as a superuser. */
    admin,
    send,
    /** Creates a simple product with one variant; `members` replace those of the request. Returns the variant. */
    addVariant: async (caller: Caller, members: Record<string, unknown> = {}) => {
      const sku = `SKU-${crypto.randomUUID()}`
      const body = { name: 'Shirt', type: 'SIMPLE_PRODUCT', sku, stock: 100, price: { EUR: 1000 }, ...members }
      const product = await send<Product>(caller, 'POST', '/v1/products', body)
      const [variant] = product.variants
      if (!variant) throw new Error('the product has no variant')
      return { ...variant, product: product.id }
    },
    stockOf: async (variant: string): Promise<number> => {
      const [row] = await admin<{ stock: number }[]>`select stock::float8 as stock from variant where id = ${variant}`
      return row?.stock ?? Number.NaN
    },
  }
})
