import type { Caller } from '@backoffice/http/internal-token.ts'
import { openDatabase } from '@backoffice/postgres/database.ts'
import { aCaller } from '@backoffice/testing/caller.ts'
import { eventually } from '@backoffice/testing/eventually.ts'
import { startReceiver } from '@backoffice/testing/receiver.ts'
import { whenDone } from '@backoffice/testing/when-done.ts'
import { beforeEach, describe, expect, test } from 'vitest'
import { anEvent, webhookDelivery } from '../testing/webhooks-api.ts'
import { changeStates } from './watch-endpoints.ts'

const { send, createEndpointAt, deliveriesOf, startReplica, workerUrl, admin } = await webhookDelivery()
const worker = openDatabase({ url: workerUrl, applicationName: 'watch' })
whenDone(() => worker.stop?.())
const receiver = await startReceiver()
const HOUR_MS = 3_600_000
let aheadMs = 0
/** A delivery has one attempt, and is given up when that fails. */
const { publish } = await startReplica({ clock: () => new Date(Date.now() + aheadMs), schedule: [0] })
beforeEach(() => receiver.answerWith((response) => response.writeHead(204).end()))

const answer = (status: number) => receiver.answerWith((response) => response.writeHead(status).end())

/** A workspace with an endpoint that gets what it is sent, and another one that gets the events about it. */
async function aWorkspace(caller: Caller = aCaller()) {
  const path = `/${caller.workspaceId}`
  const endpoint = await createEndpointAt(caller, `${receiver.url}${path}`, ['product.created'])
  const types = ['failing', 'disabled', 'recovered'].map((word) => `webhook.endpoint.${word}`)
  const observer = await createEndpointAt(caller, `${receiver.url}${path}/observer`, types)
  const status = async () =>
    (await send<Record<string, unknown>>(caller, 'GET', `/v1/webhooks/${endpoint.id}/status`)).body
  return {
    caller,
    endpoint,
    status,
    /** Sends an event `hours` after the one before, and waits for the result of its attempt. */
    async sendAfter(hours: number) {
      aheadMs += hours * HOUR_MS
      const event = anEvent(caller, { occurred_at: new Date(Date.now() + aheadMs).toISOString() })
      await publish(event)
      await eventually('its attempt is recorded', async () =>
        (await deliveriesOf(caller, endpoint)).some((made) => made.event_id === event.id && made.attempts_made === 1),
      )
    },
    state: async () => {
      await changeStates(worker.sql)
      return (await status()).state
    },
    /** The events that the other endpoint has deliveries of, the oldest first. */
    published: async () =>
      (await deliveriesOf(caller, observer)).map(({ event_type }) => event_type.split('.').at(-1)).reverse(),
  }
}

describe('an endpoint', () => {
  test('is FAILING after a day of failures, DISABLED after three, and each change is published once', async () => {
    answer(500)
    const { sendAfter, state, published, status } = await aWorkspace()
    await sendAfter(0)
    await sendAfter(23)
    expect(await state()).toBe('ACTIVE')
    await sendAfter(1.5)
    expect(await state()).toBe('FAILING')
    expect(await status()).toMatchObject({ reason: 'no_success', last_success_at: null })
    await sendAfter(47)
    expect(await state()).toBe('FAILING')
    await sendAfter(1)
    await Promise.all([1, 2, 3].map(() => changeStates(worker.sql)))
    expect(await status()).toMatchObject({ state: 'DISABLED', reason: 'no_success' })
    expect(await published()).toEqual(['failing', 'disabled'])
  })

  test('that had no attempts is not disabled, however long ago its failures are', async () => {
    answer(500)
    const { caller, sendAfter, state } = await aWorkspace()
    await sendAfter(0)
    await sendAfter(2)
    await admin`
      update endpoint_health set failing_since = now() - interval '120 hours',
        last_failed_at = now() - interval '118 hours', given_up_at = now() - interval '118 hours'
      where workspace_id = ${caller.workspaceId} and failing_since is not null`
    expect(await state()).toBe('ACTIVE')
  })

  test('that has one success in between is none of both', async () => {
    answer(500)
    const { sendAfter, state, published } = await aWorkspace()
    await sendAfter(0)
    answer(200)
    await sendAfter(40)
    answer(500)
    await sendAfter(40)
    await sendAfter(23)
    expect(await state()).toBe('ACTIVE')
    expect(await published()).toEqual([])
  })

  test('recovers with its first success', async () => {
    answer(503)
    const { sendAfter, state, published, status } = await aWorkspace()
    await sendAfter(0)
    await sendAfter(25)
    expect(await state()).toBe('FAILING')
    answer(200)
    await sendAfter(1)
    expect(await state()).toBe('ACTIVE')
    expect(await status()).toMatchObject({
      reason: null,
      last_failure: { error_class: 'status', response_status: 503 },
    })
    expect(await published()).toEqual(['failing', 'recovered'])
  })

  test('recovers with a success that a failure follows before its state is looked at', async () => {
    answer(503)
    const { sendAfter, state, published } = await aWorkspace()
    await sendAfter(0)
    await sendAfter(25)
    expect(await state()).toBe('FAILING')
    answer(200)
    await sendAfter(1)
    answer(410)
    await sendAfter(1)
    expect(await state()).toBe('ACTIVE')
    expect(await state()).toBe('FAILING')
    expect(await published()).toEqual(['failing', 'recovered', 'failing'])
  })

  test('that answers 410 is FAILING at once', async () => {
    answer(410)
    const { sendAfter, state, status, published } = await aWorkspace()
    await sendAfter(0)
    expect(await state()).toBe('FAILING')
    expect(await status()).toMatchObject({ reason: 'gone' })
    expect(await published()).toEqual(['failing'])
  })

  test('is judged, in its livemode, beside an event that PostgreSQL does not read as JSON', async () => {
    answer(500)
    const { caller, sendAfter, state } = await aWorkspace(aCaller({ livemode: false }))
    await sendAfter(0)
    await sendAfter(25)
    const { workspaceId } = caller
    await admin`update endpoint_set set livemode = null where workspace_id = ${workspaceId}`
    await admin`update event set body = replace(body, 'Shirt', ${'\\u0000\\ud800'}) where workspace_id = ${workspaceId}`
    expect(await state()).toBe('FAILING')
    const [event] = await admin<{ body: string }[]>`
      select body from event where workspace_id = ${workspaceId} and type = 'webhook.endpoint.failing'`
    expect(JSON.parse(event?.body ?? '')).toMatchObject({ livemode: false })
  })

  test.each([true, false])('is judged, in its livemode, however many tests it was sent (%s)', async (livemode) => {
    answer(500)
    const { caller, endpoint, sendAfter, state } = await aWorkspace(aCaller({ livemode }))
    await sendAfter(0)
    await sendAfter(25)
    const { workspaceId } = caller
    await admin`
      insert into event (workspace_id, id, type, key, body, occurred_at)
      select ${workspaceId}, ('ffffffff-ffff-4fff-bfff-' || lpad(n::text, 12, '0'))::uuid, 'tag.created', ${endpoint.id},
        '{"livemode":false,"data":{}}', now()
      from generate_series(1, 200) as n`
    // It was sent nothing else.
    await admin`update event set key = ${endpoint.id} where workspace_id = ${workspaceId}`
    expect(await state()).toBe('FAILING')
    const [event] = await admin<{ body: string }[]>`
      select body from event where workspace_id = ${workspaceId} and type = 'webhook.endpoint.failing'`
    expect(JSON.parse(event?.body ?? '')).toMatchObject({ livemode })
  })

  test('starts anew once it is enabled', async () => {
    answer(500)
    const { caller, endpoint, sendAfter, state, published } = await aWorkspace()
    await sendAfter(0)
    await sendAfter(80)
    expect(await state()).toBe('DISABLED')
    await send(caller, 'POST', `/v1/webhooks/${endpoint.id}/enable`)
    await sendAfter(0)
    await sendAfter(20)
    expect(await state()).toBe('ACTIVE')
    expect(await published()).toEqual(['disabled', 'recovered'])
  })

  test('is not judged by the time for which its workspace was suspended', async () => {
    answer(500)
    const { caller, sendAfter, state } = await aWorkspace()
    await sendAfter(0)
    await sendAfter(80)
    await admin`
      insert into suspended_workspace (workspace_id, changed_at, resumed_at)
      select workspace_id, now(), failing_since + interval '79 hours' from endpoint_health
      where workspace_id = ${caller.workspaceId} and failing_since is not null`
    expect(await state()).toBe('ACTIVE')
  })

  test('is not disabled where the workspace has that switched off', async () => {
    answer(500)
    const { caller, sendAfter, state } = await aWorkspace()
    const path = '/v1/webhooks/settings'
    expect(await send(caller, 'GET', path)).toMatchObject({ status: 200, body: { disables_failing: true } })
    const off = { disables_failing: false }
    expect(await send(caller, 'PUT', path, off)).toMatchObject({ status: 200, body: off })
    expect(await send(caller, 'GET', path)).toMatchObject({ body: off })
    await sendAfter(0)
    await sendAfter(80)
    expect(await state()).toBe('FAILING')
    await send(caller, 'PUT', path, { disables_failing: true })
    expect(await state()).toBe('DISABLED')
  })
})

test("the settings of a workspace are not changed with an app's key, and are its own", async () => {
  const caller = aCaller({ appKeyId: crypto.randomUUID() })
  const refused = await send(caller, 'PUT', '/v1/webhooks/settings', { disables_failing: false })
  expect(refused).toMatchObject({ status: 403, body: { error: { code: 'insufficient_scope' } } })
  expect(await send(caller, 'GET', '/v1/webhooks/settings')).toMatchObject({ body: { disables_failing: true } })
})
