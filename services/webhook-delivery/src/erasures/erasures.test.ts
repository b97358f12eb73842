import { createHmac } from 'node:crypto'
import type { ServerResponse } from 'node:http'
import type { Customer } from '@backoffice/contracts/customer.ts'
import type { EventRecord } from '@backoffice/contracts/events.ts'
import type { Caller } from '@backoffice/http/internal-token.ts'
import { openDatabase } from '@backoffice/postgres/database.ts'
import { PLAN_ONCE_BY_KEYS } from '@backoffice/postgres/plan-settings.ts'
import { inTransaction } from '@backoffice/postgres/transaction.ts'
import { createLogger, type Logger } from '@backoffice/runtime/logger.ts'
import { aCaller } from '@backoffice/testing/caller.ts'
import { eventually } from '@backoffice/testing/eventually.ts'
import { planOf, rowsReadBy, type SentStatement } from '@backoffice/testing/query-plan.ts'
import { type Received, startReceiver } from '@backoffice/testing/receiver.ts'
import { whenDone } from '@backoffice/testing/when-done.ts'
import { v7 as uuidv7 } from 'uuid'
import { describe, expect, test } from 'vitest'
import { envelopeOf } from '../events/matching.ts'
import { anEvent, type CreatedEndpoint, type ListedDelivery, webhookDelivery } from '../testing/webhooks-api.ts'
import { CHANGES_A_BATCH, EVENTS_A_BATCH, erasePersonalData } from './erase-personal-data.ts'
import { eraseSome, nextPass, PASSES_AFTER_S, startPasses } from './erasure-worker.ts'
import { noteErasures } from './note-erasures.ts'
import { redactBody } from './redact-body.ts'
import { aCustomer, anOrder } from './testing/personal-data.ts'

interface Detail extends ListedDelivery {
  attempts: {
    request: { body: string }
    response: { status: number; headers: object; body: string; truncated: boolean } | null
  }[]
}

const service = await webhookDelivery()
const { admin, send, createEndpointAt, deliveriesOf } = service
let aheadMs = 0
const { publish } = await service.startReplica({
  schedule: [0, 60_000],
  clock: () => new Date(Date.now() + aheadMs),
})
const lines: unknown[] = []
const logger: Logger = Object.assign(createLogger('test', 'silent'), { warn: (line: unknown) => void lines.push(line) })

/** A replica's connections, and the statements sent through them. */
function aReplica() {
  const statements: SentStatement[] = []
  const { sql, stop } = openDatabase({
    url: service.workerUrl,
    applicationName: 'erasures',
    poolSize: 2,
    settings: PLAN_ONCE_BY_KEYS,
    onStatement: (text, parameters) => statements.push({ text, parameters }),
  })
  whenDone(() => stop?.())
  const eraseAll = async (now = new Date()) => {
    while (await eraseSome(sql, logger, now));
  }
  return { sql, statements, eraseAll, eraseSome: (now = new Date()) => eraseSome(sql, logger, now) }
}
const { sql, statements, eraseAll, eraseSome: oneBatch } = aReplica()

/** Has the consumer note that a customer was erased. */
const note = (caller: Caller, customerId: string, orders?: string[]) => {
  const data = { id: customerId, orders }
  const value = anEvent(caller, { type: 'customer.erased', data })
  const record = { topic: 'orders.erasures', partition: 0, offset: '0', key: customerId, traceparent: undefined }
  return inTransaction(sql, (tx) =>
    noteErasures.handle([{ ...record, value: { ...value, type: 'customer.erased', data } }], tx),
  )
}

const personal = (caller: Caller, type: string, data: unknown) => anEvent(caller, { id: uuidv7(), type, data })

const bodyOf = async ({ id }: Pick<EventRecord, 'id'>): Promise<string> => {
  const [row] = await admin`select body from event where id = ${id}`
  return row?.body ?? expect.fail('no such event')
}

/** An endpoint of a new workspace, whose receiver repeats what it gets, and its deliveries after so many attempts. */
async function echoing(status = 200) {
  const caller = aCaller()
  const answers = { status }
  const receiver = await startReceiver()
  receiver.answerWith((response, { body }) =>
    response.writeHead(answers.status, { 'x-echo': body.includes('Ada') ? 'Ada' : '-' }).end(body),
  )
  const endpoint = await createEndpointAt(caller, receiver.url)
  const pathOf = (id: string) => `/v1/webhooks/${endpoint.id}/deliveries/${id}`
  const detailOf = async ({ id }: Pick<EventRecord, 'id'>): Promise<Detail> => {
    const delivery = (await deliveriesOf(caller, endpoint)).find(({ event_id }) => event_id === id)
    return (await send<Detail>(caller, 'GET', pathOf(delivery?.id ?? expect.fail('no delivery')))).body
  }
  const attempted = (count: number, ...events: EventRecord[]) =>
    eventually(`${count} attempts of each`, async () => {
      const rows = await admin`
        select from delivery where attempts_made = ${count} and event_id = any(${events.map(({ id }) => id)}::uuid[])`
      return rows.length === events.length
    })
  return { caller, answers, receiver, endpoint, pathOf, detailOf, attempted }
}

/** Stores events of a customer without deliveries. Every second one is about somebody else. */
async function storeEvents(caller: Caller, customerId: string, count: number) {
  await admin`
    insert into event (workspace_id, id, type, key, body, occurred_at)
    select ${caller.workspaceId}, uuidv7(), 'order.paid', 'key', json_build_object('data', json_build_object(
      'customer', json_build_object('id', case when n % 2 = 0 then ${customerId}::uuid else gen_random_uuid() end),
      'shipping_address', null, 'note', n
    ))::text, now()
    from generate_series(1, ${count}::integer) as n`
}

const erasedIn = async ({ workspaceId }: Caller): Promise<number> => {
  const [row] = await admin`
    select count(*)::integer as n from event where workspace_id = ${workspaceId} and erased_at is not null`
  return row?.n
}

const erasuresOf = ({ workspaceId }: Caller) => admin`select * from erasure where workspace_id = ${workspaceId}`
const passesOf = ({ workspaceId }: Caller) => admin`select * from erasure_pass where workspace_id = ${workspaceId}`

const isSigned = ({ headers, body }: Received, { secret }: CreatedEndpoint) => {
  const signature = createHmac('sha256', Buffer.from(secret.slice('whsec_'.length), 'base64'))
    .update(`${headers['webhook-id']}.${headers['webhook-timestamp']}.`)
    .update(body)
    .digest('hex')
  return headers['webhook-signature'] === `v1,${signature}`
}

describe('an erasure (OP-139)', () => {
  test('removes the customer from stored bodies and what receivers answered, and from nothing else', async () => {
    const { caller, detailOf, attempted } = await echoing()
    const customer = aCustomer()
    const own = [
      personal(caller, 'customer.created', customer),
      personal(caller, 'customer.updated', customer),
      personal(caller, 'order.created', anOrder(customer)),
      personal(caller, 'order.updated', anOrder(customer)),
      personal(caller, 'order.paid', anOrder(customer)),
      // Ids of other versions are in the default partition. The escapes are no text to PostgreSQL.
      anEvent(caller, { type: 'order.paid', data: anOrder(customer, { shipping_address: { city: 'Ada\0\ud800' } }) }),
    ]
    const others = [
      personal(caller, 'customer.created', aCustomer({ note: `Ada knows ${customer.id}` })),
      personal(caller, 'order.created', anOrder(aCustomer())),
      personal(caller, 'order.created', anOrder(null, { note: `Ada ${customer.id}` })),
      personal(caller, 'invoice.paid', { id: customer.id, order: 'Ada' }),
    ]
    const elsewhere = await echoing()
    const foreign = personal(elsewhere.caller, 'customer.created', customer)
    await publish(...own, ...others, foreign)
    await attempted(1, ...own, ...others, foreign)
    const before = await Promise.all([...others, foreign].map(bodyOf))

    await note(caller, customer.id)
    await eraseAll()
    for (const event of own) {
      const { status, attempts } = await detailOf(event)
      expect(status).toBe('DELIVERED')
      expect(JSON.stringify(attempts)).not.toContain('Ada')
      expect(JSON.parse(attempts[0]?.request.body ?? '')).toMatchObject({ id: event.id, type: event.type })
      expect(attempts[0]?.response).toEqual({ status: 200, headers: {}, body: '', truncated: false })
    }
    expect(await Promise.all([...others, foreign].map(bodyOf))).toEqual(before)
    for (const event of others) expect((await detailOf(event)).attempts[0]?.response?.body).toContain('Ada')
    const { attempts } = await elsewhere.detailOf(foreign)
    expect(attempts[0]?.response).toMatchObject({ body: before.at(-1), headers: { 'x-echo': 'Ada' } })
  })

  test('removes address and note from bodies of erased orders that named no customer, and from no later ones', async () => {
    const { caller, detailOf, attempted } = await echoing()
    const [customer, { id }] = [aCustomer(), anOrder(null)]
    const of = (type: string, who: Customer | null) => personal(caller, type, anOrder(who, { id }))
    const own = [of('order.created', null), of('order.updated', customer), of('order.updated', null)]
    const others = [of('order.updated', aCustomer()), personal(caller, 'order.created', anOrder(null))]
    await publish(...own, ...others)
    await attempted(1, ...own, ...others)
    await note(caller, customer.id)
    await eraseAll()
    // It comes when the first passes may have been made.
    await note(caller, customer.id, [id])
    await eraseAll()
    const [erasure] = await erasuresOf(caller)
    await note(caller, customer.id, [id])
    expect(await erasuresOf(caller)).toEqual([erasure])
    for (const event of own) expect(JSON.stringify((await detailOf(event)).attempts)).not.toContain('Ada')
    const replayed = { ...of('order.paid', null), occurred_at: own[0]?.occurred_at ?? '' }
    const later = of('order.updated', null)
    later.occurred_at = new Date(Date.now() + 1000).toISOString()
    await publish(replayed, later)
    await attempted(1, replayed, later)
    expect(await bodyOf(replayed)).not.toContain('Ada')
    for (const afterS of PASSES_AFTER_S) await eraseAll(new Date(Date.now() + afterS * 1000))
    for (const event of [...others, later]) expect(await bodyOf(event)).toBe(envelopeOf(event))
  })

  test('pending deliveries and resends send the body without the customer, signed', async () => {
    const { caller, answers, receiver, endpoint, pathOf, detailOf, attempted } = await echoing(500)
    const customer = aCustomer()
    const event = personal(caller, 'order.paid', anOrder(customer))
    await publish(event)
    await attempted(1, event)
    await note(caller, customer.id)
    await eraseAll()
    answers.status = 200
    aheadMs += 120_000
    await attempted(2, event)
    const delivery = await detailOf(event)
    expect(delivery.status).toBe('DELIVERED')
    await send(caller, 'POST', `${pathOf(delivery.id)}/resend`)
    await attempted(3, event)
    const redacted = await bodyOf(event)
    expect(redacted).not.toContain('Ada')
    expect(receiver.requests.slice(1).map(({ body }) => body.toString())).toEqual([redacted, redacted])
    expect(receiver.requests.map((request) => isSigned(request, endpoint))).toEqual([true, true, true])
    expect((await detailOf(event)).attempts.map(({ response }) => response?.body)).toEqual(['', redacted, redacted])
  })

  test('what waits in memory for a busy endpoint is sent without the customer', async () => {
    const { caller, receiver, answers } = await echoing()
    const [customer, beside] = [aCustomer(), await echoing()]
    const held: ServerResponse[] = []
    receiver.answerWith((response) => void held.push(response))
    // An endpoint that has answered nothing yet gets two requests at once.
    await publish(anEvent(caller), anEvent(caller))
    await eventually('it has its two requests', () => held.length === 2)
    await publish(personal(caller, 'order.paid', anOrder(customer)), anEvent(caller))
    await note(caller, customer.id)
    await eraseAll()
    // Notifications are heard in the order of the commits.
    await publish(anEvent(beside.caller))
    await eventually('the erasure is heard of', () => beside.receiver.requests.length === 1)
    receiver.answerWith((response) => response.writeHead(answers.status).end())
    for (const response of held) response.writeHead(answers.status).end()
    await eventually('all is sent', () => receiver.requests.length === 4)
    expect(receiver.requests.map(({ body }) => JSON.parse(body.toString()).type)).toEqual([
      'product.created',
      'product.created',
      'order.paid',
      'product.created',
    ])
    expect(receiver.requests[2]?.body.toString()).not.toContain('Ada')
  })

  test('a fan-out that is repeated does not bring the customer back', async () => {
    const { caller, attempted } = await echoing()
    const customer = aCustomer()
    const event = personal(caller, 'customer.created', customer)
    await publish(event)
    await attempted(1, event)
    await note(caller, customer.id)
    await eraseAll()
    await publish(event)
    expect(await bodyOf(event)).not.toContain('Ada')
  })

  test('what comes after its last pass, as a replayed dead letter can, is stored and sent without the customer', async () => {
    const [{ caller, receiver, endpoint, attempted }, elsewhere] = [await echoing(), await echoing()]
    const customer = aCustomer()
    await note(caller, customer.id)
    for (const afterS of PASSES_AFTER_S) await eraseAll(new Date(Date.now() + afterS * 1000))
    const late = [personal(caller, 'customer.updated', customer), personal(caller, 'order.paid', anOrder(customer))]
    const others = [
      personal(caller, 'customer.updated', aCustomer()),
      personal(caller, 'order.paid', anOrder(null)),
      personal(caller, 'customer.updated', { ...customer, id: 'no UUID' }),
      personal(elsewhere.caller, 'customer.updated', customer),
    ]
    await publish(...late, ...others)
    await attempted(1, ...late, ...others)
    for (const event of late) {
      const body = await bodyOf(event)
      expect(body).toBe(redactBody(event.type, envelopeOf(event), new Set([customer.id])))
      const sent = receiver.requests.find(({ headers }) => headers['webhook-id'] === event.id)
      expect(sent?.body.toString()).toBe(body)
      expect(sent && isSigned(sent, endpoint)).toBe(true)
    }
    for (const event of others) expect(await bodyOf(event)).toBe(envelopeOf(event))
  })

  test('is noted once however often its record comes', async () => {
    const caller = aCaller()
    const customer = aCustomer()
    await note(caller, customer.id)
    const [first] = await erasuresOf(caller)
    await note(caller, customer.id)
    expect(await erasuresOf(caller)).toEqual([first])
    await eraseAll()
    const [later] = await erasuresOf(caller)
    await note(caller, customer.id)
    expect(await erasuresOf(caller)).toEqual([later])
    await eraseAll()
  })
})

describe('the later passes of an erasure (OP-139)', () => {
  test('come after an hour and a day, for what was under way; then the erasure stays without passes', async () => {
    const caller = aCaller()
    const customer = aCustomer()
    await note(caller, customer.id)
    const [{ noted_at } = expect.fail('not noted')] = await erasuresOf(caller)
    for (const [made, afterS] of PASSES_AFTER_S.entries()) {
      const due = new Date(noted_at.getTime() + afterS * 1000)
      await storeEvents(caller, customer.id, 2)
      await eraseAll(new Date(due.getTime() - 1))
      expect(await erasedIn(caller)).toBe(made)
      await eraseAll(due)
      expect(await erasedIn(caller)).toBe(made + 1)
    }
    const last = { passes_made: PASSES_AFTER_S.length, next_pass_at: null }
    expect(await erasuresOf(caller)).toMatchObject([last])
    expect(await passesOf(caller)).toEqual([])
    await note(caller, customer.id)
    await eraseAll(new Date(noted_at.getTime() + 90 * 86_400_000))
    expect(await erasuresOf(caller)).toMatchObject([last])
  })

  test('remove what was answered to an attempt that was under way during the pass before', async () => {
    const { caller, receiver, detailOf, attempted } = await echoing()
    const answer = Promise.withResolvers<void>()
    receiver.answerWith(async (response, { body }) => {
      await answer.promise
      response.end(body)
    })
    const customer = aCustomer()
    const event = personal(caller, 'order.created', anOrder(customer))
    await publish(event)
    await eventually('it is under way', () => receiver.requests.length === 1)
    await note(caller, customer.id)
    await eraseAll()
    answer.resolve()
    await attempted(1, event)
    expect((await detailOf(event)).attempts[0]?.response?.body).toContain('Ada')
    await eraseAll(new Date(Date.now() + 3_700_000))
    expect((await detailOf(event)).attempts[0]?.response).toMatchObject({ status: 200, headers: {}, body: '' })
  })
})

describe('a pass (OP-139)', () => {
  test('goes on where it stopped when its replica is killed within a batch', async () => {
    const caller = aCaller()
    const customer = aCustomer()
    const changes = 2 * CHANGES_A_BATCH + 10
    await storeEvents(caller, customer.id, 2 * changes)
    await note(caller, customer.id)
    await oneBatch()
    const [before] = await passesOf(caller)
    expect(await erasedIn(caller)).toBe(CHANGES_A_BATCH)

    const held = await admin.reserve()
    whenDone(() => held.release())
    await held`begin`
    await held`select from event where workspace_id = ${caller.workspaceId} and erased_at is null for update`
    const killed = oneBatch()
    const [waiting] = await eventually('the batch waits', async () => {
      const rows = await admin`
        select pid from pg_stat_activity
        where datname = current_database() and application_name = 'erasures' and wait_event_type = 'Lock'`
      return rows.length > 0 && rows
    })
    // Another replica finds the pass taken.
    expect(await aReplica().eraseSome()).toBe(false)
    await admin`select pg_terminate_backend(${waiting?.pid})`
    expect(await killed).toBe(false)
    expect(lines).toContainEqual({ err: expect.any(Error), worker: 'erasures', workspace_id: caller.workspaceId })
    await held`rollback`
    expect(await passesOf(caller)).toEqual([{ ...before, worked_at: expect.any(Date) }])
    expect(await erasedIn(caller)).toBe(CHANGES_A_BATCH)

    const other = aReplica()
    await other.eraseAll()
    expect(await erasedIn(caller)).toBe(changes)
    const read = other.statements.filter(({ text }) => text.includes('from event'))
    expect(read[0]?.parameters).toContain(before?.after_id)
    expect(await passesOf(caller)).toEqual([])
  })

  test('is done once by two replicas', async () => {
    const callers = [aCaller(), aCaller(), aCaller()]
    const customer = aCustomer()
    for (const caller of callers) {
      await storeEvents(caller, customer.id, 400)
      await note(caller, customer.id)
    }
    const replicas = [aReplica(), aReplica()]
    await Promise.all(replicas.map(({ eraseAll }) => eraseAll()))
    for (const caller of callers) {
      expect(await erasedIn(caller)).toBe(200)
      expect(await erasuresOf(caller)).toMatchObject([{ passes_made: 1 }])
    }
    const written = replicas
      .flatMap(({ statements }) => statements.filter(({ text }) => text.includes('update event set')))
      .flatMap(({ parameters }) => String(parameters[1]).match(/[0-9a-f-]{36}/g) ?? [])
    expect(written).toHaveLength(600)
    expect(new Set(written).size).toBe(600)
  })

  test('gives other workspaces their turn after each batch, and after a failure', async () => {
    const [large, small, broken] = [aCaller(), aCaller(), aCaller()]
    const customer = aCustomer()
    await storeEvents(large, customer.id, 8 * CHANGES_A_BATCH)
    await storeEvents(small, customer.id, 2)
    await admin`
      insert into event (workspace_id, id, type, key, body, occurred_at)
      values (${broken.workspaceId}, ${uuidv7()}, 'customer.created', 'key', ${`{${customer.id}`}, now())`
    for (const caller of [large, broken, small]) await note(caller, customer.id)
    lines.length = 0
    await startPasses(sql, new Date())
    for (let batch = 1; batch <= 6; batch++) await oneBatch(new Date(Date.now() + batch))
    const failure = { err: expect.any(SyntaxError), worker: 'erasures', workspace_id: broken.workspaceId }
    expect(lines).toEqual([failure, failure])
    expect(await erasedIn(small)).toBe(1)
    expect(await erasedIn(large)).toBe(2 * CHANGES_A_BATCH)
    expect(await passesOf(small)).toEqual([])
    await admin`delete from event where workspace_id = ${broken.workspaceId}`
    await eraseAll()
  })

  test('looks for all customers that are due at its start; those erased meanwhile have the next', async () => {
    const caller = aCaller()
    const customers = [aCustomer(), aCustomer(), aCustomer()] as const
    for (const { id } of customers) await storeEvents(caller, id, 2 * CHANGES_A_BATCH)
    await note(caller, customers[0].id)
    await note(caller, customers[1].id)
    await oneBatch()
    await note(caller, customers[2].id)
    const [pass] = await passesOf(caller)
    expect(new Set(pass?.customer_ids)).toEqual(new Set([customers[0].id, customers[1].id]))
    while ((await passesOf(caller)).length > 0) await oneBatch()
    expect(await erasedIn(caller)).toBe(2 * CHANGES_A_BATCH)
    await eraseAll()
    expect(await erasedIn(caller)).toBe(3 * CHANGES_A_BATCH)
  })

  test('does not keep deliveries of the same events waiting while a batch is open', async () => {
    const { caller, endpoint, receiver, pathOf, detailOf, attempted } = await echoing()
    const customer = aCustomer()
    const event = personal(caller, 'order.created', anOrder(customer))
    await publish(event)
    await attempted(1, event)
    await note(caller, customer.id)
    await startPasses(sql, new Date())
    const { id } = await detailOf(event)
    await inTransaction(sql, async (tx) => {
      const pass = (await nextPass(tx)) ?? expect.fail('no pass')
      expect(await erasePersonalData(tx, pass, new Date())).toMatchObject({ redacted: 1 })
      await send(caller, 'POST', `${pathOf(id)}/resend`)
      await attempted(2, event)
      const next = personal(caller, 'order.updated', anOrder(customer))
      await publish(next)
      await attempted(1, next)
    })
    expect(receiver.requests).toHaveLength(3)
    expect(await deliveriesOf(caller, endpoint)).toHaveLength(2)
    await eraseAll()
    expect(await erasedIn(caller)).toBe(1)
  })

  test('reads the events of its workspace only, a batch with 9 statements at most', async () => {
    const caller = aCaller()
    const customer = aCustomer()
    await storeEvents(aCaller(), customer.id, 5000)
    await storeEvents(caller, aCustomer().id, 2 * EVENTS_A_BATCH)
    await storeEvents(caller, customer.id, 10)
    await admin`analyze event`
    await note(caller, customer.id)
    const readByBatch: number[] = []
    for (;;) {
      statements.length = 0
      if (!(await oneBatch())) break
      // The start of passes, begin, the pass, its settings, the events, two updates, the end of the batch, commit.
      expect(statements.length).toBeLessThanOrEqual(9)
      readByBatch.push(await eventsReadBy([...statements]))
    }
    // Each partition is asked for its first row.
    const [{ partitions } = expect.fail()] = await admin`
      select count(*)::integer as partitions from pg_inherits where inhparent = 'event'::regclass`
    expect(Math.max(...readByBatch)).toBeLessThanOrEqual(EVENTS_A_BATCH + partitions)
    expect(await erasedIn(caller)).toBe(5)
  })

  test('searches no more bodies once it has read 16 MiB, and goes on after these', async () => {
    const caller = aCaller()
    const customer = aCustomer()
    for (const { id } of [aCustomer(), customer]) await storeEvents(caller, id, 2)
    // Compressed, a body is small: it counts by its length.
    await admin`
      update event set body = jsonb_set(body::jsonb, '{data,note}', to_jsonb(repeat('x', 9 * 1024 * 1024)))::text
      where workspace_id = ${caller.workspaceId}`
    await note(caller, customer.id)
    let batches = 0
    while (await oneBatch()) batches++
    expect(batches, 'two of two events, and the end').toBe(3)
    expect(await erasedIn(caller)).toBe(1)
  })
})

/** Events read by the statement that reads events, when a batch is run once more. */
async function eventsReadBy(batch: readonly SentStatement[]): Promise<number> {
  const settings = batch.find(({ text }) => text.includes("'enable_sort'")) ?? expect.fail('no settings')
  const reading = batch.find(({ text }) => text.includes('from event')) ?? expect.fail('nothing was read')
  return inTransaction(sql, async (tx) => {
    await tx.unsafe(settings.text)
    const parts = await planOf(tx, reading, 'analyze')
    return rowsReadBy(parts.filter((part) => part['Relation Name']?.startsWith('event_')))
  })
}
