import { inspect } from 'node:util'
import type { Caller } from '@backoffice/http/internal-token.ts'
import { openDatabase } from '@backoffice/postgres/database.ts'
import type { Logger } from '@backoffice/runtime/logger.ts'
import { aCaller } from '@backoffice/testing/caller.ts'
import { afterAll, describe, expect, test } from 'vitest'
import { type CreatedEndpoint, testKeys, webhookDelivery } from '../testing/webhooks-api.ts'
import { endpointDirectory } from './endpoint-directory.ts'
import type { Targets } from './targets.ts'

const { admin, send, workerUrl, createEndpointAt } = await webhookDelivery()
const statements: string[] = []
const worker = openDatabase({
  url: workerUrl,
  applicationName: 'worker',
  onStatement: (text) => statements.push(text),
})
afterAll(() => worker.stop?.())
const directory = endpointDirectory(testKeys)
const idsIn = (targets: Targets | undefined) => targets?.subscribedTo('any.event').map(({ id }) => id) ?? []

test('a workspace without endpoints is absent', async () => {
  expect((await directory.of(worker.sql, [aCaller().workspaceId])).size).toBe(0)
})

test('endpoints are read again only when the workspace’s have changed', async () => {
  const caller = aCaller()
  const endpoint = await createEndpointAt(caller, 'https://example.com/first')
  await createEndpointAt(aCaller(), 'https://example.com/of-another-workspace')
  const ask = async () => {
    statements.length = 0
    const targets = (await directory.of(worker.sql, [caller.workspaceId, caller.workspaceId])).get(caller.workspaceId)
    return { targets, asked: statements.length }
  }
  const first = await ask()
  expect(idsIn(first.targets)).toEqual([endpoint.id])
  expect(first.targets?.get(endpoint.id)).toMatchObject({
    url: new URL(endpoint.url),
    signing: { keys: [{ key: Buffer.from(endpoint.secret.slice('whsec_'.length), 'base64'), endsAt: null }] },
  })
  expect((await ask()).asked).toBe(1)
  await createEndpointAt(caller, 'https://example.com/second')
  const changed = await ask()
  expect([changed.asked, idsIn(changed.targets).length]).toEqual([2, 2])
})

test('so many endpoints are kept, however many are of one workspace; those used least recently go first', async () => {
  const callers = [aCaller(), aCaller(), aCaller()]
  for (const [index, caller] of callers.entries())
    for (let endpoint = 0; endpoint < 3 - index; endpoint++) await createEndpointAt(caller, 'https://example.com')
  const small = endpointDirectory(testKeys, undefined, 6)
  const ids = callers.map(({ workspaceId }) => workspaceId)
  for (const id of ids) await small.of(worker.sql, [id])
  expect(ids.map((id) => small.kept([id])?.size)).toEqual([undefined, 1, 1])
})

describe('a secret that does not open (OP-107)', () => {
  /** Changes one bit of the secret of an endpoint, or of the one before it. */
  const corrupt = (table: 'endpoint' | 'previous_secret', id: string) => admin`
    update ${admin(table)} set sealed_secret = set_bit(sealed_secret, 150, 1 - get_bit(sealed_secret, 150))
    where ${admin(table === 'endpoint' ? 'id' : 'endpoint_id')} = ${id}`

  /** A new directory, and its log. */
  function aDirectory() {
    const logged: { line: Record<string, unknown>; message: string }[] = []
    const error = (line: unknown, message?: unknown) =>
      void logged.push({ line: line as Record<string, unknown>, message: String(message) })
    const own = endpointDirectory(testKeys, { error } as Pick<Logger, 'error'>)
    const of = async (...callers: Caller[]) =>
      own.of(
        worker.sql,
        callers.map(({ workspaceId }) => workspaceId),
      )
    return { logged, of }
  }

  test('concerns its endpoint alone: others of its workspace and of other workspaces are signed for', async () => {
    const [caller, other] = [aCaller(), aCaller()]
    const { id } = await createEndpointAt(caller, 'https://example.com')
    const beside = await createEndpointAt(caller, 'https://example.com')
    const elsewhere = await createEndpointAt(other, 'https://example.com')
    await corrupt('endpoint', id)
    const targets = await aDirectory().of(caller, other)
    expect(targets.get(caller.workspaceId)?.get(id)).toMatchObject({ id, signing: undefined })
    for (const [{ workspaceId }, endpoint] of [
      [caller, beside],
      [other, elsewhere],
    ] as const) {
      expect(targets.get(workspaceId)?.get(endpoint.id)?.signing?.keys).toEqual([
        { key: Buffer.from(endpoint.secret.replace('whsec_', ''), 'base64'), endsAt: null },
      ])
    }
  })

  test('concerns its endpoint alone, and so does a URL that is none', async () => {
    const caller = aCaller()
    const { id } = await createEndpointAt(caller, 'https://example.com')
    const beside = await createEndpointAt(caller, 'https://example.com')
    await admin`update endpoint set url = 'https://[' where id = ${id}`
    const { logged, of } = aDirectory()
    const targets = (await of(caller)).get(caller.workspaceId)
    expect(targets?.get(id)).toMatchObject({ id, signing: undefined })
    expect(targets?.get(beside.id)?.signing?.keys).toHaveLength(1)
    expect(logged).toMatchObject([{ line: { endpoint_id: id, deliveries_wait: true } }])
  })

  test('and is sealed with a key that this process lacks concerns its endpoint alone as well', async () => {
    const caller = aCaller()
    const { id } = await createEndpointAt(caller, 'https://example.com')
    const beside = await createEndpointAt(caller, 'https://example.com')
    await admin`update endpoint set secret_key_id = 'newer' where id = ${id}`
    const { logged, of } = aDirectory()
    const targets = (await of(caller)).get(caller.workspaceId)
    expect(targets?.get(id)).toMatchObject({ id, signing: undefined })
    expect(targets?.get(beside.id)?.signing?.keys).toHaveLength(1)
    expect(logged).toMatchObject([{ line: { endpoint_id: id, err: { message: 'the secret keys have no key newer' } } }])
  })

  test('is logged once per change of the workspace’s endpoints, naming the endpoint and nothing secret', async () => {
    const caller = aCaller()
    const { id, secret } = await createEndpointAt(caller, 'https://example.com')
    await corrupt('endpoint', id)
    const { logged, of } = aDirectory()
    await Promise.all(Array.from({ length: 20 }, () => of(caller)))
    await of(caller)
    expect(logged).toEqual([
      {
        line: {
          workspace_id: caller.workspaceId,
          endpoint_id: id,
          deliveries_wait: true,
          err: expect.any(Error),
        },
        message: 'a signing secret does not open',
      },
    ])
    const key = Buffer.from(secret.replace('whsec_', ''), 'base64')
    const text = inspect(logged, { depth: 10, showHidden: true })
    for (const form of [key.toString('base64'), key.toString('hex'), inspect(key)]) expect(text).not.toContain(form)
    await createEndpointAt(caller, 'https://example.com')
    await of(caller)
    expect(logged).toHaveLength(2)
  })

  test('and was replaced signs no more, while the new one does', async () => {
    const caller = aCaller()
    const { id } = await createEndpointAt(caller, 'https://example.com')
    const path = `/v1/webhooks/${id}/secret/rotate`
    const { body } = await send<CreatedEndpoint>(caller, 'POST', path, { overlap_seconds: 3600 })
    await corrupt('previous_secret', id)
    const { logged, of } = aDirectory()
    const signing = (await of(caller)).get(caller.workspaceId)?.get(id)?.signing
    expect(signing?.keys).toEqual([{ key: Buffer.from(body.secret.replace('whsec_', ''), 'base64'), endsAt: null }])
    expect(logged).toMatchObject([{ line: { endpoint_id: id, deliveries_wait: false } }])
  })

  test('and is the current one leaves none to sign with, though one that was replaced would still open', async () => {
    const caller = aCaller()
    const { id } = await createEndpointAt(caller, 'https://example.com')
    await send(caller, 'POST', `/v1/webhooks/${id}/secret/rotate`, { overlap_seconds: 3600 })
    await corrupt('endpoint', id)
    expect((await aDirectory().of(caller)).get(caller.workspaceId)?.get(id)).toMatchObject({ signing: undefined })
  })

  test('is replaced by a rotation, with an overlap too', async () => {
    const caller = aCaller()
    const { id } = await createEndpointAt(caller, 'https://example.com')
    await corrupt('endpoint', id)
    const { of } = aDirectory()
    expect((await of(caller)).get(caller.workspaceId)?.get(id)?.signing).toBeUndefined()
    const path = `/v1/webhooks/${id}/secret/rotate`
    const { body } = await send<CreatedEndpoint>(caller, 'POST', path, { overlap_seconds: 3600 })
    const signing = (await of(caller)).get(caller.workspaceId)?.get(id)?.signing
    expect(signing?.keys.map(({ key }) => `whsec_${key.toString('base64')}`)).toEqual([body.secret])
  })

  test.each(['', '00', 'ff'.repeat(27)])('may be of any length: %j', async (hex) => {
    const caller = aCaller()
    const { id } = await createEndpointAt(caller, 'https://example.com')
    await admin`update endpoint set sealed_secret = decode(${hex}, 'hex') where id = ${id}`
    expect((await aDirectory().of(caller)).get(caller.workspaceId)?.get(id)).toMatchObject({ signing: undefined })
  })
})
