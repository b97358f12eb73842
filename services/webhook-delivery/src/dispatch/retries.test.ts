import { aCaller } from '@backoffice/testing/caller.ts'
import { eventually } from '@backoffice/testing/eventually.ts'
import { startReceiver } from '@backoffice/testing/receiver.ts'
import { describe, expect, test } from 'vitest'
import { anEvent, type ListedDelivery, webhookDelivery } from '../testing/webhooks-api.ts'

const MINUTE = 60_000
const { admin, createEndpointAt, deliveriesOf, startReplica } = await webhookDelivery()
const receiver = await startReceiver()

/** Publishes one event to a new endpoint and returns its delivery once `isSo`. */
async function deliver(
  replica: Awaited<ReturnType<typeof startReplica>>,
  isSo: (delivery: ListedDelivery) => boolean,
  url = receiver.url,
) {
  const caller = aCaller()
  const endpoint = await createEndpointAt(caller, url)
  await replica.publish(anEvent(caller))
  return eventually('the delivery is as expected', async () => {
    const [delivery] = await deliveriesOf(caller, endpoint)
    return delivery !== undefined && isSo(delivery) && delivery
  })
}

const attemptsOf = ({ id }: ListedDelivery) => admin`select * from attempt where delivery_id = ${id} order by number`

describe('on the schedule of the specification', () => {
  test.each([500, 404, 302])('%i is tried again a minute after the attempt ended (spec: Retries 2)', async (status) => {
    const replica = await startReplica()
    receiver.answerWith((response) => response.writeHead(status, { location: `${receiver.url}/elsewhere` }).end())
    const delivery = await deliver(replica, ({ attempts_made }) => attempts_made === 1)
    expect(delivery).toMatchObject({ status: 'PENDING', delivered_at: null })
    const [attempt] = await attemptsOf(delivery)
    expect(attempt).toMatchObject({ response_status: status, error_class: 'status' })
    const endedAt = attempt?.started_at.getTime() + attempt?.duration_ms
    const delay = new Date(delivery.next_attempt_at ?? '').getTime() - endedAt
    expect(delay).toBeGreaterThanOrEqual(MINUTE)
    expect(delay).toBeLessThanOrEqual(1.1 * MINUTE)
    expect(receiver.requests.map(({ path }) => path)).not.toContain('/elsewhere')
  })

  test('a connection that fails is tried again, with the reason kept', async () => {
    const replica = await startReplica()
    const delivery = await deliver(replica, ({ attempts_made }) => attempts_made === 1, 'http://127.0.0.1:1/')
    expect(delivery.status).toBe('PENDING')
    const [attempt] = await attemptsOf(delivery)
    expect(attempt).toMatchObject({ response_status: null, response_body: null, error_class: 'refused' })
  })
})

/** The replicas of a database share its endpoints, so a test has one of its own. */
describe('on a schedule of moments', () => {
  const startSoon = () => startReplica({ schedule: [0, 30, 30, 30, 30, 30] })

  test('after the sixth attempt the delivery is FAILED, with every attempt kept (spec: Retries 2)', async () => {
    const replica = await startSoon()
    receiver.answerWith((response) => response.writeHead(503).end('away'))
    const delivery = await deliver(replica, ({ status }) => status !== 'PENDING')
    expect(delivery).toMatchObject({ status: 'FAILED', attempts_made: 6, next_attempt_at: null, delivered_at: null })
    const attempts = await attemptsOf(delivery)
    expect(attempts.map(({ number }) => number)).toEqual([1, 2, 3, 4, 5, 6])
    expect(attempts.every(({ response_body }) => response_body.toString() === 'away')).toBe(true)
  })

  test('a retry that is answered 2xx settles the delivery, with the same body signed anew', async () => {
    const replica = await startSoon()
    const before = receiver.requests.length
    let answers = 0
    receiver.answerWith((response) => response.writeHead(++answers < 3 ? 500 : 200).end())
    const delivery = await deliver(replica, ({ status }) => status !== 'PENDING')
    expect(delivery).toMatchObject({ status: 'DELIVERED', attempts_made: 3, next_attempt_at: null })
    const requests = receiver.requests.slice(before)
    expect(requests).toHaveLength(3)
    expect(new Set(requests.map(({ body }) => body.toString())).size).toBe(1)
    expect(new Set(requests.map(({ headers }) => headers['webhook-id'])).size).toBe(1)
  })
})

test('an answer that takes too long is a failure (spec: Retries 1)', async () => {
  const replica = await startReplica({ timeoutMs: 50 })
  receiver.answerWith(() => undefined)
  const delivery = await deliver(replica, ({ attempts_made }) => attempts_made === 1)
  expect(delivery.status).toBe('PENDING')
  expect(await attemptsOf(delivery)).toMatchObject([{ response_status: null, error_class: 'timeout' }])
})

test('each attempt is signed with its own time (OP-64)', async () => {
  let ahead = 0
  const replica = await startReplica({ clock: () => new Date(Date.now() + ahead) })
  const before = receiver.requests.length
  receiver.answerWith((response) => response.writeHead(500).end())
  const delivery = await deliver(replica, ({ attempts_made }) => attempts_made === 1)
  ahead = 2 * MINUTE
  await eventually('the second attempt is made', async () => (await attemptsOf(delivery)).length === 2)
  const [first, second] = receiver.requests.slice(before).map(({ headers }) => Number(headers['webhook-timestamp']))
  expect((second ?? 0) - (first ?? 0)).toBeGreaterThanOrEqual(60)
})

test('a first delay other than zero is kept', async () => {
  const replica = await startReplica({ schedule: [MINUTE] })
  const delivery = await deliver(replica, () => true)
  const delay = new Date(delivery.next_attempt_at ?? '').getTime() - new Date(delivery.created_at).getTime()
  // The attempt is planned by the clock of the replica, before the delivery is written.
  expect(delay).toBeGreaterThanOrEqual(MINUTE - 5000)
  expect(delivery).toMatchObject({ status: 'PENDING', attempts_made: 0 })
})

test('of a long response the first 16 KiB are kept (OP-66)', async () => {
  const replica = await startReplica()
  receiver.answerWith((response) => response.writeHead(200).end('x'.repeat(1_000_000)))
  const delivery = await deliver(replica, ({ status }) => status === 'DELIVERED')
  const [attempt] = await attemptsOf(delivery)
  expect(attempt).toMatchObject({ response_truncated: true, response_body: Buffer.from('x'.repeat(16 * 1024)) })
})
