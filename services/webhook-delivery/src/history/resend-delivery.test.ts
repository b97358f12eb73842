import { randomUUID } from 'node:crypto'
import { aCaller } from '@backoffice/testing/caller.ts'
import { eventually } from '@backoffice/testing/eventually.ts'
import { startReceiver } from '@backoffice/testing/receiver.ts'
import { describe, expect, it } from 'vitest'
import { anEvent, type ListedDelivery, webhookDelivery } from '../testing/webhooks-api.ts'

interface Detail extends ListedDelivery {
  attempts: {
    number: number
    request: { url: string; headers: Record<string, string>; body: string; truncated: boolean }
    response: { status: number; headers: object; body: string; truncated: boolean } | null
    error: { class: string; message: string } | null
  }[]
}

type Service = Awaited<ReturnType<typeof webhookDelivery>>

const service = await webhookDelivery()
const { send, admin } = service
const { publish } = await service.startReplica()
const onShortSchedule = await webhookDelivery()
let aheadMs = 0
const shortReplica = await onShortSchedule.startReplica({
  schedule: [0, 60_000, 300_000],
  clock: () => new Date(Date.now() + aheadMs),
})

/** An endpoint in a new workspace, whose receiver answers with `answers.status`, and ways to see its deliveries. */
async function anEndpoint(status: number, { send, createEndpointAt, deliveriesOf }: Service = service) {
  const caller = aCaller()
  const answers = { status }
  const receiver = await startReceiver()
  receiver.answerWith((response) => response.writeHead(answers.status).end('answered'))
  const endpoint = await createEndpointAt(caller, receiver.url)
  const pathOf = (delivery: { id: string }) => `/v1/webhooks/${endpoint.id}/deliveries/${delivery.id}`
  return {
    caller,
    answers,
    receiver,
    endpoint,
    pathOf,
    resend: (delivery: { id: string }) => send<ListedDelivery>(caller, 'POST', `${pathOf(delivery)}/resend`),
    /** The newest delivery, once so many attempts of it are made. */
    deliveryWith: (attempts: number, withinMs?: number) => {
      const made = async () => {
        const [delivery] = await deliveriesOf(caller, endpoint)
        if (delivery?.attempts_made !== attempts) return false
        return (await send<Detail>(caller, 'GET', pathOf(delivery))).body
      }
      return eventually(`${attempts} attempts are made`, made, withinMs)
    },
  }
}

describe('Webhooks 4: one delivery can be inspected (OP-60, OP-66)', () => {
  it('with the request and the response of each attempt', async () => {
    const { caller, endpoint, deliveryWith } = await anEndpoint(503)
    const event = anEvent(caller)
    await publish(event)
    const delivery = await deliveryWith(1)
    expect(delivery).toMatchObject({
      event_id: event.id,
      event_type: event.type,
      status: 'PENDING',
      delivered_at: null,
    })
    expect(delivery.attempts).toEqual([
      {
        number: 1,
        at: expect.any(String),
        duration_ms: expect.any(Number),
        request: {
          url: new URL(endpoint.url).href,
          headers: expect.objectContaining({
            'Webhook-Id': event.id,
            'Webhook-Signature': expect.stringMatching(/^v1,/),
          }),
          body: expect.stringContaining(event.id),
          truncated: false,
        },
        response: expect.objectContaining({ status: 503, body: 'answered', truncated: false }),
        error: { class: 'status', message: 'answered 503' },
      },
    ])
  })

  it('with one value of each header, also of one that came several times', async () => {
    const { caller, receiver, deliveryWith } = await anEndpoint(200)
    receiver.answerWith((response) => response.writeHead(200, { 'Set-Cookie': ['a=1', 'b=2'] }).end())
    await publish(anEvent(caller))
    const { attempts } = await deliveryWith(1)
    expect(attempts[0]?.response?.headers).toMatchObject({ 'set-cookie': 'a=1, b=2' })
  })

  it('not another endpoint’s, another workspace’s, or one of a deleted endpoint', async () => {
    const { caller, endpoint, deliveryWith, pathOf } = await anEndpoint(204)
    const other = await service.createEndpointAt(caller, endpoint.url)
    await publish(anEvent(caller))
    const delivery = await deliveryWith(1)
    const refused = async (who: typeof caller, path: string) => {
      for (const [method, url] of [
        ['GET', path],
        ['POST', `${path}/resend`],
      ] as const) {
        const { status, body } = await send(who, method, url)
        expect([status, body.error.code]).toEqual([404, 'not_found'])
      }
    }
    await refused(caller, `/v1/webhooks/${other.id}/deliveries/${delivery.id}`)
    await refused(aCaller(), pathOf(delivery))
    await refused(caller, pathOf({ id: randomUUID() }))
    await send(caller, 'DELETE', `/v1/webhooks/${endpoint.id}`)
    await refused(caller, pathOf(delivery))
  })
})

describe('a delivery that was sent again many times (OP-122)', () => {
  /** A delivery with six attempts and many resends, whose receiver answers with control characters. */
  async function manyTimesResent({ bytes = 2_000_000 } = {}) {
    const { caller, deliveryWith, pathOf } = await anEndpoint(200)
    await publish(anEvent(caller, { data: { id: randomUUID(), text: 'ä"'.repeat(bytes / 4) } }))
    const delivery = await deliveryWith(1)
    await admin`
      insert into attempt (
        workspace_id, delivery_id, number, started_at, duration_ms, request_url, request_headers, response_status, response_headers,
        response_body, response_truncated, is_resend
      )
      select workspace_id, delivery_id, n, started_at, 1, request_url, request_headers, 200, '{"server":"x"}',
        decode(repeat('00', 16384), 'hex'), true, n > 8
      from attempt cross join generate_series(2, 98) as n where delivery_id = ${delivery.id}`
    return { caller, path: pathOf(delivery) }
  }

  it('shows all attempts of the schedule and the last 20 resends, newest last', async () => {
    const { caller, path } = await manyTimesResent({ bytes: 400 })
    const { attempts } = (await send<Detail>(caller, 'GET', path)).body
    const numbers = [...Array(8).keys(), ...Array.from({ length: 20 }, (_, index) => 78 + index)].map((n) => n + 1)
    expect(attempts.map(({ number }) => number)).toEqual(numbers)
    expect(attempts.map(({ request }) => request.truncated)).toEqual(attempts.map(() => false))
  })

  it('is shown in less than 4 MiB, with bodies that are cut', async () => {
    const { caller, path } = await manyTimesResent()
    const { status, body } = await send<Detail>(caller, 'GET', path)
    expect([status, body.attempts.length]).toEqual([200, 28])
    const bytes = Buffer.byteLength(JSON.stringify(body))
    expect(bytes).toBeLessThan(4 * 1024 * 1024)
    expect(bytes).toBeGreaterThan(3 * 1024 * 1024)
    expect(body.attempts.at(-1)).toMatchObject({ request: { truncated: true }, response: { truncated: true } })
    expect(body.attempts.at(-1)?.request.body).toContain('ä')
  })

  it('shows of attempts that do not say it the first six and the last 20', async () => {
    const { caller, path } = await manyTimesResent({ bytes: 400 })
    await admin`update attempt set is_resend = null`
    const { attempts } = (await send<Detail>(caller, 'GET', path)).body
    expect(attempts.map(({ number }) => number)).toEqual([
      ...[1, 2, 3, 4, 5, 6],
      ...Array.from({ length: 20 }, (_, index) => 79 + index),
    ])
  })

  it('is sent again 100 times a day, and refused then until the next day', async () => {
    const { caller, deliveryWith, resend } = await anEndpoint(200)
    await publish(anEvent(caller))
    const delivery = await deliveryWith(1)
    await resend(delivery)
    await deliveryWith(2)
    const [row] = await admin`select resends_that_day, resend_day from delivery where id = ${delivery.id}`
    expect(row).toMatchObject({ resends_that_day: 1 })
    await admin`update delivery set resends_that_day = 99 where id = ${delivery.id}`
    expect((await resend(delivery)).status).toBe(202)
    await deliveryWith(3)
    const refused = await resend(delivery)
    expect([refused.status, refused.body]).toMatchObject([
      409,
      {
        error: {
          code: 'conflict',
          message: expect.stringContaining('delivery_id: was to be sent again 100 times today'),
        },
      },
    ])
    await admin`update delivery set resend_day = resend_day - 1 where id = ${delivery.id}`
    expect((await resend(delivery)).status).toBe(202)
    await deliveryWith(4)
    const [next] = await admin`select resends_that_day from delivery where id = ${delivery.id}`
    expect(next).toEqual({ resends_that_day: 1 })
  })

  it('is sent again as often also when each request comes while the attempt before is under way', async () => {
    const { caller, receiver, deliveryWith, resend } = await anEndpoint(200)
    await publish(anEvent(caller))
    const delivery = await deliveryWith(1)
    await admin`
      update delivery set resends_that_day = 90, resend_day = (now() at time zone 'UTC')::date where id = ${delivery.id}`
    const statuses: number[] = []
    const ask = async () => void statuses.push((await resend(delivery)).status)
    receiver.answerWith(async (response) => {
      await ask()
      response.writeHead(200).end()
    })
    await ask()
    await eventually(
      'a request is refused, or more were sent than may be',
      () => statuses.includes(409) || statuses[15],
    )
    expect(statuses).toEqual([...Array(10).fill(202), 409])
    await deliveryWith(11)
    expect(receiver.requests).toHaveLength(11)
  })

  it('counts each request, also where several before the attempt are one attempt (OP-100)', async () => {
    const { caller, endpoint, deliveryWith, resend } = await anEndpoint(200)
    await publish(anEvent(caller))
    const delivery = await deliveryWith(1)
    // In flight elsewhere, so that the attempt waits.
    await admin`
      update delivery set resends_that_day = 97, resend_day = (now() at time zone 'UTC')::date,
        busy_until = now() + interval '1 minute'
      where endpoint_id = ${endpoint.id}`
    const answers = await Promise.all(Array.from({ length: 5 }, () => resend(delivery)))
    expect(answers.map(({ status }) => status).sort()).toEqual([202, 202, 202, 409, 409])
    const [row] = await admin`select resends_that_day from delivery where id = ${delivery.id}`
    expect(row).toEqual({ resends_that_day: 100 })
  })
})

describe('Webhooks 4: any delivery can be re-sent', () => {
  it('a DELIVERED one stays so, with one more attempt and its first delivered_at', async () => {
    const { caller, receiver, deliveryWith, resend } = await anEndpoint(200)
    await publish(anEvent(caller))
    const before = await deliveryWith(1)
    const answer = await resend(before)
    expect(answer.status).toBe(202)
    expect(answer.body).toMatchObject({ id: before.id, status: 'DELIVERED', attempts_made: 1 })
    const after = await deliveryWith(2)
    expect(after).toMatchObject({ status: 'DELIVERED', delivered_at: before.delivered_at, next_attempt_at: null })
    expect(receiver.requests.map(({ headers }) => headers['webhook-id'])).toEqual([before.event_id, before.event_id])
  })

  it('a FAILED one stays so when the resend fails, and is DELIVERED when it succeeds', async () => {
    const { caller, answers, deliveryWith, resend } = await anEndpoint(500)
    await publish(anEvent(caller))
    const before = await deliveryWith(1)
    await admin`update delivery set status = 'FAILED', next_attempt_at = null where id = ${before.id}`
    await resend(before)
    expect(await deliveryWith(2)).toMatchObject({ status: 'FAILED', next_attempt_at: null, delivered_at: null })
    answers.status = 200
    await resend(before)
    expect(await deliveryWith(3)).toMatchObject({ status: 'DELIVERED', delivered_at: expect.any(String) })
  })

  it('a PENDING one keeps its schedule when the resend fails, and ends it when it succeeds', async () => {
    const { caller, answers, deliveryWith, resend } = await anEndpoint(500)
    await publish(anEvent(caller))
    const before = await deliveryWith(1)
    await resend(before)
    expect(await deliveryWith(2)).toMatchObject({ status: 'PENDING', next_attempt_at: before.next_attempt_at })
    answers.status = 204
    await resend(before)
    expect(await deliveryWith(3)).toMatchObject({ status: 'DELIVERED', next_attempt_at: null })
    const [row] = await admin`select attempts_made, resends_made, resend_at from delivery where id = ${before.id}`
    expect(row).toMatchObject({ attempts_made: 3, resends_made: 2, resend_at: null })
  })

  it('signed anew, and not counted among the attempts of the schedule', async () => {
    const { caller, receiver, deliveryWith, resend } = await anEndpoint(500, onShortSchedule)
    await shortReplica.publish(anEvent(caller))
    await resend(await deliveryWith(1))
    await deliveryWith(2)
    aheadMs += 70_000
    expect((await deliveryWith(3)).status, 'two of the three on the schedule are made').toBe('PENDING')
    aheadMs += 400_000
    expect((await deliveryWith(4)).status).toBe('FAILED')
    const signatures = receiver.requests.map(({ headers }) => headers['webhook-signature'])
    expect(new Set(signatures.slice(1)).size).toBe(3)
  })

  it('found by another replica within seconds, although its last look at the table waited long', async () => {
    const { caller, deliveryWith, resend } = await anEndpoint(200)
    await publish(anEvent(caller))
    const delivery = await deliveryWith(1)
    const lookWaits = () =>
      admin.begin(async (tx) => {
        await tx`lock table delivery in access exclusive mode`
        await eventually('the look waits', async () => {
          const [waiting] = await tx`
            select from pg_locks join pg_database on pg_database.oid = database
            where datname = current_database() and not granted and relation = 'delivery'::regclass`
          return waiting !== undefined
        })
        await tx`select pg_sleep(2)`
      })
    // The looks of a start follow each other without a pause.
    await lookWaits()
    await lookWaits()
    expect((await resend(delivery)).status).toBe(202)
    await deliveryWith(2, 30_000)
  })

  it('needs the webhook permission', async () => {
    const path = `/v1/webhooks/${randomUUID()}/deliveries/${randomUUID()}`
    expect((await send(aCaller({ scopes: ['webhook::read'] }), 'POST', `${path}/resend`)).status).toBe(403)
    expect((await send(aCaller({ scopes: ['product'] }), 'GET', path)).status).toBe(403)
  })
})

it('Webhooks 4: the list of deliveries is filtered by status, event type, event and time (OP-100)', async () => {
  const { caller, answers, endpoint, deliveryWith } = await anEndpoint(500)
  const [failing, delivered] = [anEvent(caller), anEvent(caller, { type: 'tag.created' })]
  await publish(failing)
  await deliveryWith(1)
  const between = new Date().toISOString()
  answers.status = 200
  await publish(delivered)
  await deliveryWith(1)
  const path = `/v1/webhooks/${endpoint.id}/deliveries`
  for (const [query, expected] of [
    ['status=PENDING', [failing]],
    ['status=DELIVERED', [delivered]],
    ['status=FAILED', []],
    ['event_type=tag.created', [delivered]],
    [`event_id=${failing.id}`, [failing]],
    [`since=${between}`, [delivered]],
    [`until=${between}`, [failing]],
    ['limit=20', [delivered, failing]],
  ] as const) {
    const { body } = await send<{ total: number; items: ListedDelivery[] }>(caller, 'GET', `${path}?${query}`)
    expect([query, body.total]).toEqual([query, expected.length])
    expect(body.items.map(({ event_id }) => event_id)).toEqual(expected.map(({ id }) => id))
  }
  for (const query of ['status=DONE', 'event_id=1', 'since=yesterday', 'kind=x']) {
    expect([query, (await send(caller, 'GET', `${path}?${query}`)).status]).toEqual([query, 400])
  }
})
