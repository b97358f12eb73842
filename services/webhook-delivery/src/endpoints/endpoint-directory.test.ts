import { openDatabase } from '@backoffice/postgres/database.ts'
import { aCaller } from '@backoffice/testing/caller.ts'
import { afterAll, expect, test } from 'vitest'
import { testKeys, webhookDelivery } from '../harness.ts'
import { endpointDirectory } from './endpoint-directory.ts'

const { admin, workerUrl, createEndpointAt } = await webhookDelivery()
const statements: string[] = []
const worker = openDatabase({
  url: workerUrl,
  applicationName: 'worker',
  onStatement: (text) => statements.push(text),
})
afterAll(() => worker.stop?.())
const directory = endpointDirectory(testKeys)

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
  expect([...(first.targets?.keys() ?? [])]).toEqual([endpoint.id])
  expect(first.targets?.get(endpoint.id)).toMatchObject({
    url: new URL(endpoint.url),
    signing: { keys: [{ key: Buffer.from(endpoint.secret.slice('whsec_'.length), 'base64'), endsAt: null }] },
  })
  expect((await ask()).asked).toBe(1)
  await createEndpointAt(caller, 'https://example.com/second')
  const changed = await ask()
  expect([changed.asked, changed.targets?.size]).toEqual([2, 2])
})

test('a secret sealed meanwhile with a key this process lacks is told, so that the process ends and no event fails', async () => {
  const caller = aCaller()
  const { id } = await createEndpointAt(caller, 'https://example.com')
  await admin`update endpoint set secret_key_id = 'newer' where id = ${id}`
  const told: string[] = []
  const lacking = endpointDirectory(testKeys, ({ message }) => told.push(message))
  await expect(lacking.of(worker.sql, [caller.workspaceId])).rejects.toThrow('no key newer')
  expect(told).toEqual(['WEBHOOK_SECRET_KEYS lacks keys that endpoints use: newer'])
})
