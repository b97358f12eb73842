import { randomUUID } from 'node:crypto'
import type { Caller } from '@backoffice/http/internal-token.ts'
import { openDatabase } from '@backoffice/postgres/database.ts'
import { aCaller } from '@backoffice/testing/caller.ts'
import { afterAll, expect, test } from 'vitest'
import { testKeys, webhookDelivery } from '../testing/webhooks-api.ts'
import { endpointDirectory } from './endpoint-directory.ts'

const { send, workerUrl, createEndpointAt } = await webhookDelivery()
const worker = openDatabase({ url: workerUrl, applicationName: 'worker' })
afterAll(() => worker.stop?.())
const directory = endpointDirectory(testKeys)

const setLimits = (caller: Caller, id: string, body: unknown, headers = {}) =>
  send(caller, 'POST', `/v1/webhooks/${id}/limits`, body, headers)
const limitsOf = async (caller: Caller, id: string) => (await send(caller, 'GET', `/v1/webhooks/${id}/limits`)).body
/** The limit that the owner of the endpoint keeps. */
const keptLimit = async ({ workspaceId }: Caller, id: string) =>
  (await directory.of(worker.sql, [workspaceId])).get(workspaceId)?.get(id)?.requestsPerSecond

async function anEndpoint() {
  const caller = aCaller()
  return { caller, ...(await createEndpointAt(caller, 'https://example.com/hook')) }
}

test('an endpoint has no limit until one is set, and none again after null', async () => {
  const { caller, id } = await anEndpoint()
  expect(await limitsOf(caller, id)).toEqual({ requests_per_second: null })
  expect(await keptLimit(caller, id)).toBeUndefined()
  for (const limit of [1, 1000, null]) {
    const body = { requests_per_second: limit }
    expect(await setLimits(caller, id, body)).toMatchObject({ status: 200, body })
    expect(await limitsOf(caller, id)).toEqual(body)
    expect(await keptLimit(caller, id)).toBe(limit ?? undefined)
  }
})

test('the body of the endpoint has no member more, and stays as it was; an update leaves the limit', async () => {
  const { caller, secret: _, ...before } = await anEndpoint()
  const { id } = before
  await setLimits(caller, id, { requests_per_second: 7 })
  expect((await send(caller, 'GET', `/v1/webhooks/${id}`)).body).toEqual(before)
  await send(caller, 'PUT', `/v1/webhooks/${id}`, { description: 'slow' })
  await send(caller, 'POST', `/v1/webhooks/${id}/secret/rotate`)
  expect(await keptLimit(caller, id)).toBe(7)
})

test('others of the workspace keep theirs', async () => {
  const { caller, id } = await anEndpoint()
  const beside = await createEndpointAt(caller, 'https://example.com/beside')
  await setLimits(caller, id, { requests_per_second: 7 })
  expect(await keptLimit(caller, beside.id)).toBeUndefined()
})

test.each([
  ['0', { requests_per_second: 0 }, 'requests_per_second: must be at least 1'],
  ['1,001', { requests_per_second: 1001 }, 'requests_per_second: must be at most 1000'],
  ['1.5', { requests_per_second: 1.5 }, 'requests_per_second: must be a whole number'],
  ['a text', { requests_per_second: '5' }, 'requests_per_second: must be a number'],
  ['nothing', {}, 'requests_per_second: '],
  ['another limit', { requests_per_second: 5, in_flight: 2 }, 'in_flight: unknown member'],
  ['no body', undefined, 'body: '],
])('a limit of %s is bad_request, and the one that was stays', async (_, body, message) => {
  const { caller, id } = await anEndpoint()
  await setLimits(caller, id, { requests_per_second: 7 })
  const answer = await setLimits(caller, id, body)
  expect([answer.status, answer.body.error.code]).toEqual([400, 'bad_request'])
  expect(answer.body.error.message).toContain(message)
  expect(await keptLimit(caller, id)).toBe(7)
})

test("another workspace's endpoint and one that is not there are not_found; scopes are webhook's", async () => {
  const { caller, id } = await anEndpoint()
  for (const [who, at] of [
    [aCaller(), id],
    [caller, randomUUID()],
  ] as const) {
    const answers = [
      await setLimits(who, at, { requests_per_second: 1 }),
      await send(who, 'GET', `/v1/webhooks/${at}/limits`),
    ]
    for (const { status, body } of answers) expect([status, body.error.code]).toEqual([404, 'not_found'])
  }
  const [reader, writer] = [
    { ...caller, scopes: ['webhook::read'] },
    { ...caller, scopes: ['webhook::create'] },
  ]
  expect((await setLimits(reader, id, { requests_per_second: 1 })).status).toBe(403)
  expect((await send(writer, 'GET', `/v1/webhooks/${id}/limits`)).status).toBe(403)
  expect(await limitsOf(reader, id)).toEqual({ requests_per_second: null })
})

test('an Idempotency-Key sets a limit once: repeated later it answers as then and changes nothing', async () => {
  const { caller, id } = await anEndpoint()
  const headers = { 'idempotency-key': randomUUID() }
  await setLimits(caller, id, { requests_per_second: 5 }, headers)
  await setLimits(caller, id, { requests_per_second: 9 })
  expect((await setLimits(caller, id, { requests_per_second: 5 }, headers)).body).toEqual({ requests_per_second: 5 })
  expect(await keptLimit(caller, id)).toBe(9)
})
