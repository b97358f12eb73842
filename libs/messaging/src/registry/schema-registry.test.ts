import { randomUUID } from 'node:crypto'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { createLogger } from '@backoffice/runtime/logger.ts'
import { backingServices } from '@backoffice/testing/backing-services.ts'
import { SchemaRegistryClient } from '@confluentinc/schemaregistry/dist/schemaregistry-client.js'
import { JsonDeserializer } from '@confluentinc/schemaregistry/dist/serde/json.js'
import { SerdeType } from '@confluentinc/schemaregistry/dist/serde/serde.js'
import { expect, onTestFinished, test, vi } from 'vitest'
import { z } from 'zod'
import { decodeRecord } from '../consumers/received-records.ts'
import { registerSchemas } from './register-schemas.ts'
import { refuseWrongRegistry } from './registry-client.ts'
import { recordSerializer, Unserialisable } from './schema-registry.ts'

const topic = `test-${randomUUID()}`
const Thing = z.strictObject({ type: z.literal('thing.created'), amount: z.int(), at: z.iso.datetime() })
await registerSchemas(backingServices().registryUrl, { [topic]: { 'thing.created': Thing } })

const aThing = { type: 'thing.created', amount: 7, at: '2026-03-01T12:00:00.000Z' }

/** Passes requests on to the registry and counts them. */
async function countingRegistry() {
  const requests: string[] = []
  const target = new URL(backingServices().registryUrl)
  const server = createServer(async (request, response) => {
    requests.push(request.url ?? '')
    const answer = await fetch(new URL(request.url ?? '', target))
    response.writeHead(answer.status, { 'content-type': 'application/json' }).end(await answer.text())
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const close = () => {
    server.close()
    server.closeAllConnections()
  }
  onTestFinished(close)
  return { requests, close, url: `http://127.0.0.1:${(server.address() as AddressInfo).port}${target.pathname}` }
}

test('what is serialised can be read, by us and by any Confluent client', async () => {
  const bytes = await recordSerializer(backingServices().registryUrl)(topic, aThing)
  expect(decodeRecord(bytes)).toEqual(aThing)
  const registry = SchemaRegistryClient.newClient({ baseURLs: [backingServices().registryUrl] })
  const reader = new JsonDeserializer(registry, SerdeType.VALUE, {
    subjectNameStrategy: () => `${topic}-thing.created`,
    validate: true,
    validateFormats: false,
  })
  expect(await reader.deserialize(topic, bytes)).toEqual(aThing)
})

test.each([
  ['lacks a member', { type: 'thing.created', amount: 7 }],
  ['has a member of another type', { ...aThing, amount: '7' }],
  ['has a member nobody knows', { ...aThing, colour: 'red' }],
  ['has a time that is none', { ...aThing, at: 'yesterday' }],
])('a value that %s cannot be serialised', async (_, value) => {
  await expect(recordSerializer(backingServices().registryUrl)(topic, value)).rejects.toThrow(Unserialisable)
})

test('a type without a schema cannot be serialised until it has one', async () => {
  const type = `thing.${randomUUID()}`
  const serialize = recordSerializer(backingServices().registryUrl)
  const value = { ...aThing, type }
  await expect(serialize(topic, value)).rejects.toThrow(Unserialisable)
  await registerSchemas(backingServices().registryUrl, { [topic]: { [type]: Thing.extend({ type: z.literal(type) }) } })
  await expect.poll(() => serialize(topic, value).then(decodeRecord)).toEqual(value)
})

test('an address that is no registry is not the value’s fault', async () => {
  const { href } = new URL('/nothing-here', backingServices().registryUrl)
  await expect(recordSerializer(href)(topic, aThing)).rejects.not.toBeInstanceOf(Unserialisable)
})

test('values that do not fit ask the registry again, but not each of them', async () => {
  const registry = await countingRegistry()
  const serialize = recordSerializer(registry.url)
  for (let count = 0; count < 20; count++) {
    await expect(serialize(topic, { ...aThing, amount: '7' } as never)).rejects.toThrow(Unserialisable)
  }
  expect(registry.requests.length).toBeLessThan(10)
})

test('while the registry is away, a value that does not fit keeps no other from being serialised', async () => {
  const registry = await countingRegistry()
  const serialize = recordSerializer(registry.url)
  await serialize(topic, aThing)
  registry.close()
  await expect
    .poll(() => serialize(topic, { ...aThing, amount: '7' } as never).catch((error) => error))
    .toBeInstanceOf(Unserialisable)
  expect(decodeRecord(await serialize(topic, aThing))).toEqual(aThing)
})

test('a registry that does not answer is not asked by each subject: none waits for the same outage', async () => {
  let asked = 0
  const server = createServer((_, response) => {
    asked++
    setTimeout(() => response.writeHead(500).end(), 100)
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  onTestFinished(() => void server.close())
  const serialize = recordSerializer(`http://127.0.0.1:${(server.address() as AddressInfo).port}`)
  for (const type of ['a', 'b', 'c', 'd'])
    await expect(serialize(topic, { ...aThing, type })).rejects.not.toBeInstanceOf(Unserialisable)
  expect(asked).toBe(1)
})

test('the registry is asked once, however many records are serialised', async () => {
  const registry = await countingRegistry()
  const serialize = recordSerializer(registry.url)
  for (let count = 0; count < 20; count++) await serialize(topic, aThing)
  expect(registry.requests).toHaveLength(1)
})

test('a registry that lets its user read no settings ends no start', async () => {
  const server = createServer((_, response) => response.writeHead(403).end())
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  onTestFinished(() => void server.close())
  const warn = vi.fn()
  const { port } = server.address() as AddressInfo
  await refuseWrongRegistry(
    { url: `http://127.0.0.1:${port}` },
    Object.assign(createLogger('test', 'silent'), { warn }),
  )
  expect(warn).toHaveBeenCalledExactlyOnceWith(expect.stringContaining('refuses the first request'))
})

test.each([
  ['is empty', Buffer.alloc(0)],
  ['begins with another byte', Buffer.from('{"id":1}')],
  ['is cut off', Buffer.from([0, 0, 0])],
  ['holds no JSON', Buffer.from([0, 0, 0, 0, 1, 123])],
])('what %s cannot be read', (_, bytes) => {
  expect(() => decodeRecord(bytes)).toThrow()
})
