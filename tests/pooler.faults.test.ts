import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { backingServices } from '@backoffice/testing/backing-services.ts'
import { guardGroup } from '@backoffice/testing/processes/guard.ts'
import { expect, it } from 'vitest'

/** Tests of requests that lock, wait, number, count and publish. */
const FILES = [
  'services/catalog/src/products/create-product.test.ts',
  'services/catalog/src/products/refresh-products.test.ts',
  'services/catalog/src/variants/variant-races.test.ts',
  'services/catalog/src/categories/delete-category.test.ts',
  'services/catalog/src/stock/stock-at-once.test.ts',
  'services/catalog/src/imports/import-products.test.ts',
  'services/orders/src/orders/create-order.test.ts',
  'services/orders/src/customers/list-customers.test.ts',
  'services/orders/src/erasures/erase-customers.test.ts',
]

it('the tests of catalog and orders pass when every connection for requests leads through PgBouncer', async () => {
  const { postgresUrl, kafkaBrokers, registryUrl } = backingServices()
  const vitest = join(import.meta.dirname, '../node_modules/vitest/vitest.mjs')
  const options = ['--project', 'unit and service', '--maxWorkers', '1', '--reporter', 'default']
  const child = spawn(process.execPath, [vitest, 'run', ...options, ...FILES], {
    env: {
      ...process.env,
      TEST_THROUGH_POOLER: 'true',
      DATABASE_URL: postgresUrl,
      KAFKA_BROKERS: kafkaBrokers.join(','),
      SCHEMA_REGISTRY_URL: registryUrl,
    },
    detached: true,
  })
  guardGroup(child, 'SIGTERM')
  let output = ''
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (chunk) => (output += chunk))
  const [code] = await once(child, 'exit')
  expect(code, output).toBe(0)
  console.log(output.split('\n').slice(-6).join('\n'))
}, 600_000)
