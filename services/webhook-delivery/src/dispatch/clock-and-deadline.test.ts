import type { ServerResponse } from 'node:http'
import { aCaller } from '@backoffice/testing/caller.ts'
import { eventually } from '@backoffice/testing/eventually.ts'
import { startReceiver } from '@backoffice/testing/receiver.ts'
import { whenDone } from '@backoffice/testing/when-done.ts'
import { describe, expect, test, vi } from 'vitest'
import { anEvent, type ListedDelivery, webhookDelivery } from '../testing/webhooks-api.ts'

const HOUR_MS = 3_600_000
const RETRY_MS = 5000
const { admin, send, createEndpointAt, deliveriesOf, startReplica } = await webhookDelivery()

/** An endpoint at a receiver of its own that answers as told, and how its one delivery goes. */
async function subscribed(answer: (response: ServerResponse) => void) {
  const receiver = await startReceiver()
  receiver.answerWith(answer)
  const caller = aCaller()
  const endpoint = await createEndpointAt(caller, receiver.url)
  const until = (what: string, isSo: (delivery: ListedDelivery) => boolean) =>
    eventually(what, async () => {
      const [delivery] = await deliveriesOf(caller, endpoint)
      return delivery !== undefined && isSo(delivery) && delivery
    })
  const attemptsOf = ({ id }: ListedDelivery) => admin`select * from attempt where delivery_id = ${id} order by number`
  return { receiver, caller, endpoint, event: () => anEvent(caller), until, attemptsOf }
}

const ok = (response: ServerResponse) => response.writeHead(200).end()
const away = (response: ServerResponse) => response.writeHead(503).end()

describe('when the clock is set back by an hour', async () => {
  let offset = 0
  const { publish } = await startReplica({
    clock: () => new Date(Date.now() + offset),
    schedule: [0, RETRY_MS, RETRY_MS],
  })
  const atOnce = async () => {
    const { event, until } = await subscribed(ok)
    await publish(event())
    return until('it is delivered', ({ status }) => status === 'DELIVERED')
  }

  test('events that come are delivered at once', async () => {
    offset = -HOUR_MS
    expect(await atOnce()).toMatchObject({ attempts_made: 1 })
    expect(await atOnce()).toMatchObject({ attempts_made: 1 })
  })

  test('the first attempt of what another process has written is on the schedule', async () => {
    offset = -HOUR_MS
    const { caller, endpoint, until, attemptsOf } = await subscribed(away)
    await send(caller, 'POST', `/v1/webhooks/${endpoint.id}/ping`)
    const failed = await until('it has failed', ({ attempts_made }) => attempts_made > 0)
    expect((await attemptsOf(failed))[0]).toMatchObject({ number: 1, is_resend: false })
  })

  test('a retry waits until the clock has its time again, and is made once then', async () => {
    offset = 0
    const { receiver, event, until, attemptsOf } = await subscribed(away)
    await publish(event())
    const waiting = await until('the first attempt has failed', ({ attempts_made }) => attempts_made === 1)
    offset = -HOUR_MS
    receiver.answerWith(ok)
    await atOnce()
    expect(await until('it waits', () => true)).toEqual(waiting)
    offset = 0
    const delivered = await until('it is delivered', ({ status }) => status === 'DELIVERED')
    expect(delivered.attempts_made).toBe(2)
    const [first, second] = await attemptsOf(delivered)
    expect(second?.started_at.getTime() - first?.started_at.getTime()).toBeGreaterThanOrEqual(RETRY_MS)
    expect(receiver.requests).toHaveLength(2)
  })

  test('an attempt in flight at that moment counts, and the second follows', async () => {
    offset = 0
    const held: ServerResponse[] = []
    const { receiver, event, until, attemptsOf } = await subscribed((response) => void held.push(response))
    await publish(event())
    await eventually('it is in flight', () => held.length === 1)
    offset = -HOUR_MS
    for (const response of held) away(response)
    await until('the first attempt has failed', ({ attempts_made }) => attempts_made === 1)
    receiver.answerWith(ok)
    offset = 0
    const delivered = await until('it is delivered', ({ status }) => status === 'DELIVERED')
    expect((await attemptsOf(delivered)).map(({ number }) => number)).toEqual([1, 2])
  })
})

test('a replica whose own clock is a month ahead goes by that of the database: what is due, when, and what was when', async () => {
  const { receiver, event, until, caller, endpoint } = await subscribed(away)
  vi.useFakeTimers({ toFake: ['Date'], now: Date.now() + 30 * 24 * HOUR_MS })
  whenDone(() => vi.useRealTimers())
  const { publish } = await startReplica()
  await publish(event())
  const waiting = await until('the first attempt has failed', ({ attempts_made }) => attempts_made === 1)
  const path = `/v1/webhooks/${endpoint.id}`
  expect((await send(caller, 'POST', `${path}/deliveries/${waiting.id}/resend`)).status).toBe(202)
  await until('it is sent again', ({ attempts_made }) => attempts_made === 2)
  expect((await send(caller, 'POST', `${path}/ping`)).status).toBe(202)
  await eventually('the ping is sent', () => receiver.requests.length === 3)
  await send(caller, 'POST', `${path}/secret/rotate`, { overlap_seconds: 3600 })
  const { id } = waiting
  await until('all is recorded', ({ attempts_made }) => attempts_made === 1)
  const [times] = await admin`
    select next_attempt_at between created_at + interval '59 seconds' and now() + interval '70 seconds' as due,
      created_at between now() - interval '1 minute' and now() as created,
      uuid_extract_timestamp(id) between now() - interval '1 minute' and now() as id,
      (select bool_and(started_at between now() - interval '1 minute' and now()) from attempt where delivery_id = delivery.id) as made,
      (select ends_at between now() + interval '50 minutes' and now() + interval '70 minutes' from previous_secret
        where endpoint_id = delivery.endpoint_id) as rotated
    from delivery where id = ${id}`
  vi.useRealTimers()
  expect(times).toEqual({ due: true, created: true, id: true, made: true, rotated: true })
  expect(receiver.requests).toHaveLength(3)
})

test('a 2xx after 15 seconds counts as delivered, one after 22 is a time-out and tried again (spec: Retries 1, 2)', async () => {
  const { publish } = await startReplica()
  const answeredAfter = async (ms: number) => {
    const { event, until, attemptsOf } = await subscribed((response) => void setTimeout(() => ok(response), ms))
    await publish(event())
    const delivery = await until('the attempt is recorded', ({ attempts_made }) => attempts_made === 1)
    return { delivery, attempts: await attemptsOf(delivery) }
  }
  const [inTime, late] = await Promise.all([answeredAfter(15_000), answeredAfter(22_000)])
  expect(inTime.delivery).toMatchObject({ status: 'DELIVERED', next_attempt_at: null })
  expect(inTime.attempts).toMatchObject([{ response_status: 200, error_class: null }])
  expect(late.delivery).toMatchObject({ status: 'PENDING', delivered_at: null })
  expect(late.delivery.next_attempt_at).not.toBeNull()
  expect(late.attempts).toMatchObject([{ response_status: null, error_class: 'timeout' }])
})
