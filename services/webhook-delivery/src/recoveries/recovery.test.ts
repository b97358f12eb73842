import { randomUUID } from 'node:crypto'
import type { Caller } from '@backoffice/http/internal-token.ts'
import { openDatabase } from '@backoffice/postgres/database.ts'
import { PLAN_ONCE_BY_KEYS } from '@backoffice/postgres/plan-settings.ts'
import { createLogger, type Logger } from '@backoffice/runtime/logger.ts'
import { aCaller } from '@backoffice/testing/caller.ts'
import { eventually } from '@backoffice/testing/eventually.ts'
import { whenDone } from '@backoffice/testing/when-done.ts'
import { v7 as uuidv7 } from 'uuid'
import { describe, expect, it } from 'vitest'
import type { z } from 'zod'
import { countedReads } from '../testing/rows-read.ts'
import { webhookDelivery } from '../testing/webhooks-api.ts'
import type { EndpointRecovery } from './recovery.ts'
import { recoveryWorker } from './recovery-worker.ts'

type Recovery = z.output<typeof EndpointRecovery>

const { admin, send, workerUrl } = await webhookDelivery()
const SINCE = new Date(Date.now() - 3_600_000).toISOString()

/** Endpoints of a workspace with failed deliveries, which nobody sends: no dispatcher runs here. */
async function endpointsThatFailed(caller: Caller, endpoints: number, deliveries: number): Promise<string[]> {
  const ids = Array.from({ length: endpoints }, () => uuidv7())
  await admin`
    insert into endpoint (workspace_id, id, url, enabled_events, secret_key_id, sealed_secret, created_at, updated_at)
    select ${caller.workspaceId}, id, 'http://127.0.0.1:9/', '{*}', 'test', '', now(), now() from unnest(${ids}::uuid[]) as id`
  await admin`
    insert into delivery (workspace_id, endpoint_id, id, event_id, event_type, status, attempts_made, created_at)
    select ${caller.workspaceId}, id, uuidv7(), uuidv7(), 'tag.created', 'FAILED', 8, now()
    from unnest(${ids}::uuid[]) as id, generate_series(1, ${deliveries}::integer)`
  return ids
}

async function anEndpointThatFailed(caller: Caller, deliveries: number) {
  const [id = ''] = await endpointsThatFailed(caller, 1, deliveries)
  const path = `/v1/webhooks/${id}`
  return {
    id,
    recover: (since = SINCE) => send<{ error: { message: string } }>(caller, 'POST', `${path}/recover`, { since }),
    recovery: async () => (await send<Recovery>(caller, 'GET', `${path}/recovery`)).body,
    cancel: () => send<Recovery & { error: { message: string } }>(caller, 'POST', `${path}/recovery/cancel`),
    /** The attempts that were asked for are made. Locks none of the deliveries that the next step makes due. */
    attempted: () => admin`update delivery set resend_at = null where endpoint_id = ${id} and resend_at is not null`,
  }
}

const lines: unknown[] = []
const logger: Logger = Object.assign(createLogger('test', 'silent'), { warn: (line: unknown) => void lines.push(line) })

/** Starts the worker of a replica. */
async function startWorker() {
  const worker = openDatabase({
    url: workerUrl,
    applicationName: 'recoveries',
    poolSize: 1,
    settings: PLAN_ONCE_BY_KEYS,
  })
  const recoveries = recoveryWorker(worker.sql, logger)
  await recoveries.start?.()
  const stop = async () => {
    await recoveries.stop?.()
    await worker.stop?.()
  }
  whenDone(stop)
  return stop
}

const dueOf = async (endpointIds: readonly string[]): Promise<number> => {
  const [row] = await admin`
    select count(*)::integer as due from delivery where endpoint_id = any(${[...endpointIds]}::uuid[]) and resend_at is not null`
  return row?.due
}

/** When the step made them due, in milliseconds. */
const dueSince = async (endpoint: string): Promise<number> => {
  const [row] = await admin<{ at: Date | null }[]>`
    select min(resend_at) as at from delivery where endpoint_id = ${endpoint}`
  return row?.at?.getTime() ?? NaN
}

describe('an endpoint has one open recovery (OP-195)', () => {
  it('a second call is a conflict that says how to go on, and changes nothing', async () => {
    const { recover, recovery } = await anEndpointThatFailed(aCaller(), 3)
    expect(await recover()).toMatchObject({ status: 202, body: { since: SINCE, deliveries: 3 } })
    const before = await recovery()
    const again = await recover(new Date(0).toISOString())
    expect([again.status, again.body.error.message]).toEqual([
      409,
      expect.stringMatching(
        /^id: has an open recovery since .*, which has sent 0 of 3 deliveries; wait for its end .*cancel it/,
      ),
    ])
    expect(await recovery()).toEqual(before)
  })

  it('of calls at once one starts it', async () => {
    const { id, recover } = await anEndpointThatFailed(aCaller(), 3)
    const answers = await Promise.all(Array.from({ length: 6 }, () => recover()))
    expect(answers.map(({ status }) => status).sort()).toEqual([202, 409, 409, 409, 409, 409])
    expect(await admin`select from recovery where endpoint_id = ${id}`).toHaveLength(1)
  })

  it('one that has ended makes way for another', async () => {
    const { recover, recovery, cancel } = await anEndpointThatFailed(aCaller(), 3)
    await recover()
    await cancel()
    const since = new Date(Date.now() - 60_000).toISOString()
    expect((await recover(since)).status).toBe(202)
    expect(await recovery()).toMatchObject({ status: 'RUNNING', since, deliveries: 3, sent_again: 0, ended_at: null })
  })
})

describe('a recovery is followed and cancelled (OP-195)', () => {
  it('shows how many were sent again, in steps that wait for the attempts of the step before', async () => {
    const { id, recover, recovery, attempted } = await anEndpointThatFailed(aCaller(), 150)
    await recover()
    await startWorker()
    const started = await eventually('the first step is made', async () => {
      const present = await recovery()
      return present.sent_again > 0 && present
    })
    const [due, first] = await Promise.all([dueOf([id]), dueSince(id)])
    await attempted()
    expect(started).toMatchObject({ status: 'RUNNING', deliveries: 150, sent_again: 100, ended_at: null })
    expect(due).toBe(100)
    await eventually('it is over', async () => (await recovery()).status === 'COMPLETED')
    // At most 100 a second (OP-101), by the clock of the database.
    expect((await dueSince(id)) - first).toBeGreaterThanOrEqual(1000)
    expect(await recovery()).toMatchObject({ sent_again: 150, since: SINCE, ended_at: expect.any(String) })
    expect(await dueOf([id])).toBe(50)
  })

  it('a cancelled one sends no more, and is shown as it ended', async () => {
    const { id, recover, recovery, cancel, attempted } = await anEndpointThatFailed(aCaller(), 250)
    await recover()
    await startWorker()
    await eventually('the first step is made', async () => (await recovery()).sent_again === 100)
    const { status, body } = await cancel()
    expect([status, body]).toMatchObject([202, { status: 'CANCELLED', sent_again: 100, ended_at: expect.any(String) }])
    expect((await cancel()).body).toEqual(body)
    await attempted()
    const other = await anEndpointThatFailed(aCaller(), 1)
    await other.recover()
    await eventually('a later one is over', async () => (await other.recovery()).status === 'COMPLETED')
    expect(await recovery()).toEqual(body)
    expect(await dueOf([id])).toBe(0)
  })

  it('one that is over cannot be cancelled', async () => {
    const { recover, recovery, cancel } = await anEndpointThatFailed(aCaller(), 1)
    await recover()
    await startWorker()
    await eventually('it is over', async () => (await recovery()).status === 'COMPLETED')
    expect(await cancel()).toMatchObject({
      status: 409,
      body: { error: { message: 'status: is COMPLETED; the recovery has ended' } },
    })
  })

  it('is not there for an endpoint without one, another workspace and a deleted endpoint', async () => {
    const caller = aCaller()
    const { id, recover } = await anEndpointThatFailed(caller, 1)
    const codes = async (who: Caller, endpointId: string) => [
      (await send(who, 'GET', `/v1/webhooks/${endpointId}/recovery`)).status,
      (await send(who, 'POST', `/v1/webhooks/${endpointId}/recovery/cancel`)).status,
    ]
    expect(await codes(caller, id)).toEqual([404, 404])
    const { body } = await send(caller, 'GET', `/v1/webhooks/${id}/recovery`)
    expect(body.error.message).toBe(
      `id: webhook endpoint ${id} has no recovery; POST /v1/webhooks/${id}/recover starts one`,
    )
    await recover()
    expect(await codes(aCaller(), id)).toEqual([404, 404])
    expect(await codes(caller, randomUUID())).toEqual([404, 404])
    await send(caller, 'DELETE', `/v1/webhooks/${id}`)
    expect(await codes(caller, id)).toEqual([404, 404])
    expect(await admin`select from recovery where endpoint_id = ${id}`).toHaveLength(0)
  })
})

describe('a recovery of an endpoint with other deliveries (OP-101)', () => {
  /** An endpoint with failed deliveries and a PENDING one that is due since some time. */
  async function anEndpointThatHas({ attemptsMade, dueFor }: { attemptsMade: number; dueFor: string }) {
    const caller = aCaller()
    const endpoint = await anEndpointThatFailed(caller, 150)
    await admin`
      insert into delivery (
        workspace_id, endpoint_id, id, event_id, event_type, attempts_made, next_attempt_at, created_at
      )
      select ${caller.workspaceId}, ${endpoint.id}, uuidv7(), uuidv7(), 'tag.created', ${attemptsMade},
        now() - ${dueFor}::interval, now()`
    return endpoint
  }

  it('goes on while a first attempt is in flight at any time', async () => {
    const { id, recover, recovery, attempted } = await anEndpointThatHas({ attemptsMade: 0, dueFor: '1 second' })
    await recover()
    await startWorker()
    await eventually('it is over', async () => {
      await admin`
        update delivery set next_attempt_at = now() - interval '1 second' where endpoint_id = ${id} and status = 'PENDING'`
      await attempted()
      return (await recovery()).status === 'COMPLETED'
    })
    expect(await recovery()).toMatchObject({ sent_again: 150 })
  })

  it.each([
    ['a first attempt', { attemptsMade: 0, dueFor: '1 minute' }],
    ['a repeat', { attemptsMade: 1, dueFor: '0' }],
  ])('waits for %s that waits', async (_, waiting) => {
    const { id, recover, recovery } = await anEndpointThatHas(waiting)
    await recover()
    const other = await anEndpointThatFailed(aCaller(), 250)
    await other.recover()
    await startWorker()
    await eventually('another is over', async () => {
      await other.attempted()
      return (await other.recovery()).status === 'COMPLETED'
    })
    expect(await recovery()).toMatchObject({ status: 'RUNNING', sent_again: 0 })
    await admin`
      update delivery set status = 'DELIVERED', next_attempt_at = null where endpoint_id = ${id} and status = 'PENDING'`
    await eventually('it goes on', async () => (await recovery()).sent_again > 0)
  })
})

it('a step reads the waiting attempts of its endpoint alone, however many there were when it was planned', async () => {
  const { id, recover } = await anEndpointThatFailed(aCaller(), 1)
  const [other = ''] = await endpointsThatFailed(aCaller(), 1, 1000)
  await admin`vacuum analyze delivery`
  await recover()
  const counted = countedReads(workerUrl)
  const recoveries = recoveryWorker(counted.sql, logger)
  await recoveries.start?.()
  await eventually('it is due', async () => (await dueOf([id])) === 1)
  await recoveries.stop?.()
  const rowsRead = () => counted.rowsRead('delivery', 'is_repeat')
  await rowsRead()
  await admin`update delivery set resend_at = now() where endpoint_id = ${other}`
  expect(await rowsRead()).toBeLessThanOrEqual(2)
})

describe('workspaces have their turns', () => {
  const openRecoveries = (caller: Caller, endpointIds: readonly string[]) => admin`
    insert into recovery (workspace_id, id, endpoint_id, since, until, after_id)
    select ${caller.workspaceId}, uuidv7(), id, ${SINCE}, now(), least_id(${SINCE}) from unnest(${[...endpointIds]}::uuid[]) as id`

  it('one with very many recoveries does not hold up the others', async () => {
    const [many, few] = [aCaller(), aCaller()]
    const [ofMany, ofFew] = [await endpointsThatFailed(many, 300, 1), await endpointsThatFailed(few, 1, 1)]
    await openRecoveries(many, ofMany)
    await openRecoveries(few, ofFew)
    await startWorker()
    await eventually('all are due', async () => (await dueOf([...ofMany, ...ofFew])) === 301, 150_000)
    // `resend_at` is the begin of the transaction that made the delivery due.
    const [before] = await admin`
      select count(*)::integer as deliveries from delivery
      where endpoint_id = any(${ofMany}::uuid[])
        and resend_at <= (select resend_at from delivery where endpoint_id = any(${ofFew}::uuid[]))`
    expect(before?.deliveries).toBeLessThanOrEqual(2)
  })

  it('a recovery whose step fails does not keep the others of its workspace from theirs', async () => {
    const caller = aCaller()
    const [bad = '', ...good] = await endpointsThatFailed(caller, 3, 1)
    await admin.unsafe(`
      create function refuse() returns trigger language plpgsql as $$ begin raise 'refused'; end $$;
      create trigger refuse before update on delivery for each row when (new.endpoint_id = '${bad}') execute function refuse();`)
    whenDone(async () => void (await admin.unsafe('drop trigger refuse on delivery')))
    await openRecoveries(caller, [bad])
    await openRecoveries(caller, good)
    await startWorker()
    await eventually('the others are due', async () => (await dueOf(good)) === 2)
    expect(await dueOf([bad])).toBe(0)
    expect(lines).toContainEqual(expect.objectContaining({ workspace_id: caller.workspaceId, endpoint_id: bad }))
    expect(await admin`select status from recovery where endpoint_id = ${bad}`).toEqual([{ status: 'RUNNING' }])
  })
})

describe('a recovery sends a part of what failed (OP-251)', () => {
  const typesDue = async (id: string) =>
    (
      await admin`
        select event_type, count(*)::integer as due from delivery
        where endpoint_id = ${id} and resend_at is not null group by 1 order by 1`
    ).map(({ event_type, due }) => [event_type, due])

  /** An endpoint with FAILED deliveries, so many a minute: `tag.created`, and one of each hundred `order.paid`. */
  async function anEndpointWith(caller: Caller, deliveries: number) {
    const { id } = await anEndpointThatFailed(caller, 0)
    await admin`
      insert into delivery (workspace_id, endpoint_id, id, event_id, event_type, status, attempts_made, created_at)
      select ${caller.workspaceId}, ${id}, uuidv7(make_interval(mins => -(n % 60) - 1)), uuidv7(),
        case when n % 100 = 0 then 'order.paid' else 'tag.created' end, 'FAILED', 8, now()
      from generate_series(1, ${deliveries}::integer) as n`
    const start = (input: object) =>
      send<{ deliveries: number; since: string; error: { message: string } }>(
        caller,
        'POST',
        `/v1/webhooks/${id}/recover`,
        input,
      )
    const recovery = async () => (await send<Recovery>(caller, 'GET', `/v1/webhooks/${id}/recovery`)).body
    return { id, start, recovery }
  }

  it('of some types, and counts these', async () => {
    const { id, start, recovery } = await anEndpointWith(aCaller(), 12_000)
    const since = new Date(Date.now() - 7_200_000).toISOString()
    const answer = await start({ since, event_types: ['order.paid', 'product.created'] })
    expect(answer).toMatchObject({ status: 202, body: { since, deliveries: 120 } })
    expect(Object.keys(answer.body)).toHaveLength(2)
    const ends = [await startWorker()]
    await eventually('the first step is made', async () => (await recovery()).sent_again > 0)
    await admin`update delivery set resend_at = null, resends_that_day = 1 where endpoint_id = ${id} and resend_at is not null`
    await eventually(
      'it ends',
      async () => {
        const { status } = await recovery()
        if (status !== 'COMPLETED')
          await admin`update delivery set resend_at = null, resends_that_day = 1 where endpoint_id = ${id} and resend_at is not null`
        return status === 'COMPLETED'
      },
      30_000,
    )
    for (const end of ends) await end()
    expect(await recovery()).toMatchObject({ deliveries: 120, sent_again: 120, since })
    const sent = await admin`
      select event_type, count(*)::integer as sent from delivery
      where endpoint_id = ${id} and (resends_that_day = 1 or resend_at is not null) group by 1`
    expect(sent.map((row) => ({ ...row }))).toEqual([{ event_type: 'order.paid', sent: 120 }])
  })

  it('until some time, which is not its start', async () => {
    const { id, start, recovery } = await anEndpointWith(aCaller(), 60)
    const now = Date.now()
    const [since, until] = [40, 20].map((minutes) => new Date(now - minutes * 60_000 - 30_000).toISOString())
    expect((await start({ since, until })).body).toEqual({ since, deliveries: 20 })
    expect(Date.parse((await recovery()).started_at)).toBeGreaterThanOrEqual(now - 1000)
    const end = await startWorker()
    await eventually('it ends', async () => (await recovery()).status === 'COMPLETED')
    await end()
    expect(await typesDue(id)).toEqual([['tag.created', 20]])
  })

  it('and an until that lies in the future is now', async () => {
    const { start, recovery } = await anEndpointWith(aCaller(), 5)
    const future = new Date(Date.now() + 3_600_000).toISOString()
    expect((await start({ since: SINCE, until: future })).body.deliveries).toBe(5)
    expect(Date.parse((await recovery()).started_at)).toBeLessThan(Date.parse(future) - 1_800_000)
  })

  it.each([
    [{ since: SINCE, until: SINCE }, 422, 'until: must be later than since'],
    [{ since: SINCE, until: 'soon' }, 400, 'until: '],
    [{ since: SINCE, event_types: [] }, 400, 'event_types: '],
    [{ since: SINCE, event_types: 'order.paid' }, 400, 'event_types: '],
  ])('%j is refused', async (input, expected, message) => {
    const { start } = await anEndpointWith(aCaller(), 1)
    const { status, body } = await start(input)
    expect([status, body.error.message]).toEqual([expected, expect.stringContaining(message)])
  })
})
