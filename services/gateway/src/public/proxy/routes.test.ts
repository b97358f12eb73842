import { expect, test } from 'vitest'
import { serviceFor } from './routes.ts'

test.each([
  ['/v1/products', 'catalog'],
  ['/v1/products?page=2', 'catalog'],
  ['/v1/products/018f/variants', 'catalog'],
  ['/v1/products/a..b', 'catalog'],
  ['/v1/products/...', 'catalog'],
  ['/v1/products?query=a/../b', 'catalog'],
  ['/v1/webhooks/018f/ping', 'webhook-delivery'],
  ['/v1/imports', 'imports'],
  ['/v1/imports/018f/errors.csv', 'imports'],
  ['/v1/imports/018f/progress?x', 'imports'],
])('%s goes to %s', (target, service) => {
  expect(serviceFor(target)).toBe(service)
})

test.each([
  '/v1',
  '/v1/',
  '/v1//products',
  '/v1/products/',
  '/v1/products/?page=2',
  '/v1/products//variants',
  '/v1/productsx',
  '/v1/products%2f..',
  '/internal/stock/take',
  '/v1/internal/stock/take',
  '/v1/products/../../internal/stock/take',
  '/v1/products/%2e%2E/webhooks',
  '/v1/products/.%2e?x',
  '/v1/products/.',
  '/v1/products/..\\internal',
  '/v1/constructor',
  '/V1/products',
  '/v2/products',
  'http://elsewhere/v1/products',
])('%s goes nowhere', (target) => {
  expect(serviceFor(target)).toBeUndefined()
})
