import { createHmac } from 'node:crypto'
import type { ServerResponse } from 'node:http'
import type { Caller } from '@backoffice/http/internal-token.ts'
import { aCaller } from '@backoffice/testing/caller.ts'
import { eventually } from '@backoffice/testing/eventually.ts'
import { type Received, startReceiver } from '@backoffice/testing/receiver.ts'
import { expect, test } from 'vitest'
import { type EndpointDirectory, endpointDirectory } from '../endpoints/endpoint-directory.ts'
import { anEvent, type CreatedEndpoint, testKeys, webhookDelivery } from '../testing/webhooks-api.ts'

const { send, createEndpointAt, startReplica } = await webhookDelivery()
const receiver = await startReceiver()
let ahead = 0
const replica = await startReplica({ clock: () => new Date(Date.now() + ahead) })
const HOUR_MS = 3_600_000

const arrivalAt = (path: string, count = 1) =>
  eventually(`${count} requests at ${path}`, () => {
    const received = receiver.requests.filter((request) => request.path === path)
    return received.length >= count && received
  })

const rotate = async (caller: Caller, { id }: { id: string }, body: unknown = {}) =>
  (await send<CreatedEndpoint>(caller, 'POST', `/v1/webhooks/${id}/secret/rotate`, body)).body.secret

/** The entries of a request's signature that a receiver would compute from its secrets. */
function entriesOf({ headers, body }: Received, encoding: 'hex' | 'base64', ...secrets: string[]): string[] {
  return secrets.map((secret) => {
    const hmac = createHmac('sha256', Buffer.from(secret.replace('whsec_', ''), 'base64'))
    hmac.update(`${headers['webhook-id']}.${headers['webhook-timestamp']}.`).update(body)
    return `v1,${hmac.digest(encoding)}`
  })
}

const signatureOf = (request: Received | undefined) => String(request?.headers['webhook-signature']).split(' ')

test('an endpoint that asks for it gets a base64 entry as well, from the next attempt on (OP-62)', async () => {
  const caller = aCaller()
  const { id, secret } = await createEndpointAt(caller, `${receiver.url}/standard`)
  await replica.publish(anEvent(caller))
  await arrivalAt('/standard')
  await send(caller, 'PUT', `/v1/webhooks/${id}`, { standard_signature: true })
  await replica.publish(anEvent(caller))
  const [plain, standard] = (await arrivalAt('/standard', 2)) as [Received, Received]
  expect(signatureOf(plain)).toEqual(entriesOf(plain, 'hex', secret))
  expect(signatureOf(standard)).toEqual([
    ...entriesOf(standard, 'hex', secret),
    ...entriesOf(standard, 'base64', secret),
  ])
})

test('during an overlap both secrets sign, and the old one no more once it is over (OP-63)', async () => {
  const caller = aCaller()
  const endpoint = await createEndpointAt(caller, `${receiver.url}/overlap`)
  const newer = await rotate(caller, endpoint, { overlap_seconds: 3600 })
  await replica.publish(anEvent(caller))
  await arrivalAt('/overlap')
  ahead = HOUR_MS
  await replica.publish(anEvent(caller))
  const [during, after] = (await arrivalAt('/overlap', 2)) as [Received, Received]
  ahead = 0
  expect(signatureOf(during)).toEqual(entriesOf(during, 'hex', newer, endpoint.secret))
  expect(signatureOf(after)).toEqual(entriesOf(after, 'hex', newer))
})

/** Sends one delivery that is not answered; a second about the same thing waits in memory until `answer`. */
async function oneInFlightAndOneWaiting(caller: Caller, path: string) {
  const held: ServerResponse[] = []
  receiver.answerWith((response) => void held.push(response))
  const about = { data: { id: 'one thing' } }
  await replica.publish(anEvent(caller, about), anEvent(caller, about))
  await arrivalAt(path)
  return function answer() {
    receiver.answerWith((response) => response.writeHead(204).end())
    for (const response of held) response.writeHead(204).end()
  }
}

test('what waits in memory during a rotation is signed with the new secret (OP-63)', async () => {
  const caller = aCaller()
  const endpoint = await createEndpointAt(caller, `${receiver.url}/rotated`)
  const answer = await oneInFlightAndOneWaiting(caller, '/rotated')
  const newer = await rotate(caller, endpoint)
  answer()
  const [before, after] = (await arrivalAt('/rotated', 2)) as [Received, Received]
  expect(signatureOf(before)).toEqual(entriesOf(before, 'hex', endpoint.secret))
  expect(signatureOf(after)).toEqual(entriesOf(after, 'hex', newer))
})

test('what waits in memory while the URL is changed goes to the new one (OP-97)', async () => {
  const caller = aCaller()
  const { id } = await createEndpointAt(caller, `${receiver.url}/old-place`)
  const answer = await oneInFlightAndOneWaiting(caller, '/old-place')
  await send(caller, 'PUT', `/v1/webhooks/${id}`, { url: `${receiver.url}/new-place` })
  answer()
  await arrivalAt('/new-place')
  expect(await arrivalAt('/old-place')).toHaveLength(1)
})

test('whatever is rotated while events come, each delivery is signed with a secret that held (50 rounds)', async () => {
  receiver.answerWith((response) => response.writeHead(204).end())
  const caller = aCaller()
  const endpoint = await createEndpointAt(caller, `${receiver.url}/rotating`)
  let [older, current] = [endpoint.secret, endpoint.secret]
  for (let round = 1; round <= 50; round++) {
    const [next] = await Promise.all([rotate(caller, endpoint), replica.publish(anEvent(caller))])
    ;[older, current] = [current, next]
    const request = (await arrivalAt('/rotating', round)).at(-1) as Received
    expect(entriesOf(request, 'hex', older, current)).toContain(signatureOf(request).join(' '))
  }
})

test('an attempt whose endpoint PostgreSQL cannot tell is given back and made once it can', async () => {
  // Else it may own the endpoint.
  await replica.stop()
  const directory = endpointDirectory(testKeys)
  let asked = 0
  const once: EndpointDirectory = {
    async of(sql, workspaceIds) {
      if (workspaceIds.length === 0) return new Map()
      if (++asked > 1) return directory.of(sql, workspaceIds)
      throw new Error('PostgreSQL is away')
    },
  }
  await replica.stop()
  const other = await startReplica({ directory: once })
  const caller = aCaller()
  await createEndpointAt(caller, `${receiver.url}/told`)
  await other.publish(anEvent(caller))
  await arrivalAt('/told')
  expect(asked).toBeGreaterThan(1)
  await other.stop()
})
