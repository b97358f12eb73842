import type { Caller } from '@backoffice/http/internal-token.ts'
import { aCaller } from '@backoffice/testing/caller.ts'
import { eventually } from '@backoffice/testing/eventually.ts'
import { type Received, startReceiver } from '@backoffice/testing/receiver.ts'
import { describe, expect, test } from 'vitest'
import { anEvent, webhookDelivery } from '../testing/webhooks-api.ts'

const { send, createEndpointAt, deliveriesOf, startReplica, admin } = await webhookDelivery()
const receiver = await startReceiver()
let aheadMs = 0
const { publish } = await startReplica({ clock: () => new Date(Date.now() + aheadMs) })

const receivedAt = (path: string) => receiver.requests.filter((request) => request.path === path)
const arrivalAt = (path: string, count = 1) =>
  eventually(`${count} requests at ${path}`, () => receivedAt(path).length >= count)
const eventOf = ({ body }: Received) => JSON.parse(body.toString())

const change = (caller: Caller, { id }: { id: string }, what: 'disable' | 'enable') =>
  send<Record<string, unknown>>(caller, 'POST', `/v1/webhooks/${id}/${what}`)
const about = (caller: Caller, id: string, count: number) =>
  Array.from({ length: count }, () => anEvent(caller, { data: { id } }))

/** Sends something to another workspace, which shows that the replica looks for what is due. */
async function seeOthersServed() {
  const caller = aCaller()
  const path = `/beside/${caller.workspaceId}`
  const endpoint = await createEndpointAt(caller, `${receiver.url}${path}`)
  for (let round = 1; round <= 2; round++) {
    await send(caller, 'POST', `/v1/webhooks/${endpoint.id}/ping`)
    await arrivalAt(path, round)
  }
}

describe('a disabled endpoint', () => {
  test('gets nothing; what occurs meanwhile waits, and goes out in its order once it is enabled', async () => {
    const caller = aCaller()
    const endpoint = await createEndpointAt(caller, `${receiver.url}/disabled`)
    const disabled = await change(caller, endpoint, 'disable')
    expect(disabled).toMatchObject({ status: 200, body: { state: 'DISABLED', reason: 'requested' } })
    const events = about(caller, crypto.randomUUID(), 12)
    for (const event of events) await publish(event)
    await seeOthersServed()
    expect(receivedAt('/disabled')).toEqual([])
    const waiting = await deliveriesOf(caller, endpoint)
    expect(waiting).toHaveLength(12)
    for (const delivery of waiting) expect(delivery).toMatchObject({ status: 'PENDING', attempts_made: 0 })

    const enabled = await change(caller, endpoint, 'enable')
    expect(enabled).toMatchObject({ status: 200, body: { state: 'ACTIVE', reason: null } })
    await arrivalAt('/disabled', 12)
    const ids = receivedAt('/disabled').map(({ headers }) => headers['webhook-id'])
    expect(ids).toEqual(events.map(({ id }) => id))
  })

  test('has its retries, resends and pings wait too, and they use no attempt up', async () => {
    const caller = aCaller()
    const endpoint = await createEndpointAt(caller, `${receiver.url}/retried`)
    receiver.answerWith((response) => response.writeHead(500).end())
    await publish(anEvent(caller))
    const delivery = async () => (await deliveriesOf(caller, endpoint)).at(-1)
    await eventually('the first attempt failed', async () => (await delivery())?.attempts_made === 1)
    receiver.answerWith((response) => response.writeHead(204).end())
    await change(caller, endpoint, 'disable')
    await send(caller, 'POST', `/v1/webhooks/${endpoint.id}/deliveries/${(await delivery())?.id}/resend`)
    await send(caller, 'POST', `/v1/webhooks/${endpoint.id}/ping`)
    aheadMs += 120_000
    await seeOthersServed()
    expect(receivedAt('/retried')).toHaveLength(1)
    expect(await delivery()).toMatchObject({ status: 'PENDING', attempts_made: 1 })
    await change(caller, endpoint, 'enable')
    await eventually('both are delivered', async () =>
      (await deliveriesOf(caller, endpoint)).every(({ status }) => status === 'DELIVERED'),
    )
  })

  test('is of its workspace, and both operations may be repeated', async () => {
    const caller = aCaller()
    const endpoint = await createEndpointAt(caller, `${receiver.url}/repeated`)
    for (const what of ['disable', 'enable'] as const) {
      const foreign = await change(aCaller(), endpoint, what)
      expect(foreign).toMatchObject({ status: 404, body: { error: { code: 'not_found' } } })
      const first = await change(caller, endpoint, what)
      expect((await change(caller, endpoint, what)).body).toEqual(first.body)
    }
  })

  test('is changed after its status was read: attempts are recorded meanwhile', async () => {
    const caller = aCaller()
    const endpoint = await createEndpointAt(caller, `${receiver.url}/large`)
    const answer = await admin.begin(async (tx) => {
      await tx`lock table attempt in access exclusive mode`
      const changing = change(caller, endpoint, 'disable')
      await eventually('its status is being read', async () => {
        const waiting = await admin`
          select from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`
        return waiting.length > 0
      })
      expect(
        await admin`select state from endpoint_health where endpoint_id = ${endpoint.id} for update skip locked`,
      ).toEqual([{ state: 'ACTIVE' }])
      return { changing }
    })
    expect(await answer.changing).toMatchObject({ status: 200, body: { state: 'DISABLED', reason: 'requested' } })
  })

  test("cannot be enabled with an app's key that has not made it", async () => {
    const caller = aCaller()
    const endpoint = await createEndpointAt(caller, `${receiver.url}/of-the-merchant`)
    const app = aCaller({ workspaceId: caller.workspaceId, keyId: 'other', appKeyId: crypto.randomUUID() })
    for (const what of ['disable', 'enable'] as const) {
      const refused = await change(app, endpoint, what)
      expect(refused).toMatchObject({ status: 403, body: { error: { code: 'insufficient_scope' } } })
    }
  })
})

test('each change is published once to the other endpoints that ask for it, by name or for all events', async () => {
  const caller = aCaller({ livemode: false })
  const endpointAt = (path: string, events: string[]) => createEndpointAt(caller, `${receiver.url}${path}`, events)
  const changing = await endpointAt('/changing', ['*'])
  await endpointAt('/by-name', ['webhook.endpoint.disabled'])
  await endpointAt('/all', ['*'])
  await endpointAt('/not-asked', ['order.paid'])
  await createEndpointAt(aCaller(), `${receiver.url}/foreign`)
  await Promise.all([1, 2, 3].map(() => change(caller, changing, 'disable')))
  await Promise.all([1, 2, 3].map(() => change(caller, changing, 'enable')))
  await arrivalAt('/all', 2)
  await arrivalAt('/by-name')
  await seeOthersServed()

  const published = receivedAt('/all').map(eventOf)
  expect(published.map(({ type }) => type)).toEqual(['webhook.endpoint.disabled', 'webhook.endpoint.recovered'])
  expect(published[0]).toMatchObject({
    livemode: false,
    data: { id: changing.id, state: 'DISABLED', reason: 'requested', since: expect.any(String) },
  })
  expect(published[1]).toMatchObject({ data: { id: changing.id, state: 'ACTIVE', reason: null } })
  expect(receivedAt('/by-name').map(eventOf)).toEqual([published[0]])
  for (const path of ['/changing', '/not-asked', '/foreign']) expect(receivedAt(path)).toEqual([])
  const stored = await admin`select from event where workspace_id = ${caller.workspaceId}`
  expect(stored).toHaveLength(2)
})
