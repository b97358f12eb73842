import { readConfig } from '@backoffice/runtime/config.ts'
import { TOKEN_SETTINGS } from '@backoffice/testing/caller.ts'
import { expect, test } from 'vitest'
import { WebhookDeliveryConfig } from './config.ts'

const key = Buffer.alloc(32, 1).toString('base64')
const environment = {
  ...TOKEN_SETTINGS,
  DATABASE_URL: 'postgres://localhost/a',
  WORKER_DATABASE_URL: 'postgres://localhost/a',
  KAFKA_BROKERS: '127.0.0.1:9092',
  WEBHOOK_SECRET_KEYS: `one:${key}`,
}

test('six attempts at 0, 1 minute, 5 minutes, 30 minutes, 2 hours and 6 hours unless told otherwise (spec: Limits)', () => {
  const minutes = readConfig(WebhookDeliveryConfig, environment).WEBHOOK_RETRY_DELAYS.map((delay) => delay / 60_000)
  expect(minutes).toEqual([0, 1, 5, 30, 120, 360])
})

test('the schedule can be compressed', () => {
  const config = readConfig(WebhookDeliveryConfig, { ...environment, WEBHOOK_RETRY_DELAYS: '0s, 100ms,2s' })
  expect(config.WEBHOOK_RETRY_DELAYS).toEqual([0, 100, 2000])
})

test.each(['soon', '0s,,1m x', ','])('the schedule %j is refused', (delays) => {
  expect(() => readConfig(WebhookDeliveryConfig, { ...environment, WEBHOOK_RETRY_DELAYS: delays })).toThrow(
    'WEBHOOK_RETRY_DELAYS',
  )
})

test('a workspace has at most 500 endpoints unless told otherwise (OP-121)', () => {
  const read = (settings: NodeJS.ProcessEnv) =>
    readConfig(WebhookDeliveryConfig, { ...environment, ...settings }).WEBHOOK_ENDPOINTS_PER_WORKSPACE
  expect(read({})).toBe(500)
  expect(read({ WEBHOOK_ENDPOINTS_PER_WORKSPACE: '16' })).toBe(16)
  expect(() => read({ WEBHOOK_ENDPOINTS_PER_WORKSPACE: '0' })).toThrow('WEBHOOK_ENDPOINTS_PER_WORKSPACE')
})

test('deliveries go through no proxy unless there is one', () => {
  expect(readConfig(WebhookDeliveryConfig, environment).EGRESS_PROXY_URL).toBeUndefined()
  const proxied = { ...environment, EGRESS_PROXY_URL: 'http://user:secret@proxy:3128' }
  expect(readConfig(WebhookDeliveryConfig, proxied).EGRESS_PROXY_URL?.host).toBe('proxy:3128')
})

test.each(['socks5://user:secret@proxy', 'user:secret@proxy:3128'])('a refused proxy is not repeated', (url) => {
  const read = () => readConfig(WebhookDeliveryConfig, { ...environment, EGRESS_PROXY_URL: url })
  expect(read).toThrow('EGRESS_PROXY_URL: Invalid URL')
  expect(read).not.toThrow('secret')
})

test('loopback targets are off unless switched on', () => {
  expect(readConfig(WebhookDeliveryConfig, environment).WEBHOOK_ALLOW_LOOPBACK).toBe(false)
})

test('a refused secret key is not repeated', () => {
  const read = () => readConfig(WebhookDeliveryConfig, { ...environment, WEBHOOK_SECRET_KEYS: `:${key}` })
  expect(read).toThrow('WEBHOOK_SECRET_KEYS: must be')
  expect(read).not.toThrow(key)
})
