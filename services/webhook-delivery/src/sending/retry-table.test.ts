import type { Caller } from '@backoffice/http/internal-token.ts'
import { aCaller } from '@backoffice/testing/caller.ts'
import { eventually } from '@backoffice/testing/eventually.ts'
import { startReceiver } from '@backoffice/testing/receiver.ts'
import { expect, test } from 'vitest'
import { anEvent, type CreatedEndpoint, type ListedDelivery, webhookDelivery } from '../testing/webhooks-api.ts'

const MINUTE = 60_000
const HOUR = 60 * MINUTE
/** Retries 2: "immediately, then after 1 minute, 5 minutes, 30 minutes, 2 hours and 6 hours". */
const DELAYS = [MINUTE, 5 * MINUTE, 30 * MINUTE, 2 * HOUR, 6 * HOUR]

const { send, createEndpointAt, deliveriesOf, startReplica } = await webhookDelivery()
const receiver = await startReceiver()
receiver.answerWith((response, { path }) => response.writeHead(path === '/fence' ? 204 : 500).end())

interface Attempted extends ListedDelivery {
  attempts: { number: number; at: string; duration_ms: number }[]
}

/** The endpoint's delivery once so many attempts of it are made. */
const attempted = (caller: Caller, endpoint: CreatedEndpoint, attempts: number) =>
  eventually(`${attempts} attempts are made`, async () => {
    const [delivery] = await deliveriesOf(caller, endpoint)
    if (delivery?.attempts_made !== attempts) return false
    return (await send<Attempted>(caller, 'GET', `/v1/webhooks/${endpoint.id}/deliveries/${delivery.id}`)).body
  })

test.each([
  ['no jitter', 0],
  ['all of the jitter that may be added, a tenth (OP-65)', 1],
])(
  'Retries 2: immediately, then 1 minute, 5 minutes, 30 minutes, 2 hours and 6 hours after the attempt before, then FAILED; with %s',
  async (_, jitter) => {
    const caller = aCaller()
    // What the API makes due is due by this clock.
    let now = new Date(Date.now() + MINUTE)
    const replica = await startReplica({ clock: () => now, random: () => jitter })
    const fence = await createEndpointAt(caller, `${receiver.url}/fence`, ['tag.deleted'])
    const endpoint = await createEndpointAt(caller, `${receiver.url}/failing`, ['product.created'])
    /** Moves the clock, and returns when what became due at that moment for another endpoint is sent. */
    const goTo = async (time: number) => {
      now = new Date(time)
      const { body } = await send<ListedDelivery>(caller, 'POST', `/v1/webhooks/${fence.id}/ping`)
      await eventually('the ping is delivered', async () =>
        (await deliveriesOf(caller, fence)).some(({ id, status }) => id === body.id && status === 'DELIVERED'),
      )
    }

    await replica.publish(anEvent(caller))
    for (const [index, delay] of DELAYS.entries()) {
      const delivery = await attempted(caller, endpoint, index + 1)
      expect(delivery.status).toBe('PENDING')
      const { at, duration_ms } = delivery.attempts[index] ?? expect.fail('the attempt is not kept')
      expect(new Date(at)).toEqual(now)
      const due = new Date(delivery.next_attempt_at ?? '')
      expect(due.getTime() - now.getTime() - duration_ms).toBe(delay + (delay / 10) * jitter)
      await goTo(due.getTime() - 1)
      expect((await deliveriesOf(caller, endpoint))[0]?.attempts_made, 'never early').toBe(index + 1)
      await goTo(due.getTime())
    }
    expect(await attempted(caller, endpoint, 6)).toMatchObject({
      status: 'FAILED',
      next_attempt_at: null,
      delivered_at: null,
    })
    await goTo(now.getTime() + 24 * HOUR)
    expect((await deliveriesOf(caller, endpoint))[0]?.attempts_made, 'there is no seventh').toBe(6)
  },
)
