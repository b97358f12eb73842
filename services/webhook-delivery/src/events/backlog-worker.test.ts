import { randomUUID } from 'node:crypto'
import { openDatabase } from '@backoffice/postgres/database.ts'
import { createLogger } from '@backoffice/runtime/logger.ts'
import { aCaller } from '@backoffice/testing/caller.ts'
import { eventually } from '@backoffice/testing/eventually.ts'
import { whenDone } from '@backoffice/testing/when-done.ts'
import { expect, test } from 'vitest'
import { endpointDirectory } from '../endpoints/endpoint-directory.ts'
import { anEvent, testKeys, webhookDelivery } from '../testing/webhooks-api.ts'
import { backlogWorker } from './backlog-worker.ts'
import { fanOutEvents } from './fan-out.ts'

const { admin, workerUrl, createEndpointAt } = await webhookDelivery()
const worker = openDatabase({ url: workerUrl, applicationName: 'worker' })
whenDone(() => worker.stop?.())
const directory = endpointDirectory(testKeys)

/** Events in the backlog of a new workspace; one turn takes some hundreds of them. */
async function aBacklog(events: number) {
  const caller = aCaller()
  const { id } = await createEndpointAt(caller, 'https://example.com')
  await admin`
    with stored as (
      insert into event (workspace_id, id, type, key, body, occurred_at)
      select ${caller.workspaceId}, uuidv7(), 'product.created', ${randomUUID()}, '{}', now()
      from generate_series(1, ${events}::integer) returning workspace_id, id, body
    )
    insert into fan_out_backlog (workspace_id, event_id, endpoint_ids, deliveries, bytes)
    select workspace_id, id, ${[id]}::uuid[], 1, octet_length(body) from stored order by id`
  return caller.workspaceId
}

const inserted = async (workspaceId: string) => {
  const [row] = await admin<[{ count: number }]>`
    select count(*)::integer as count from delivery where workspace_id = ${workspaceId}`
  return row.count
}

const backlogOf = (hasMany: (workspaceId: string) => boolean) =>
  backlogWorker({
    sql: worker.sql,
    directory,
    dispatcher: { owns: () => true, hasMany, beginWriting: () => ({ token: 'ours', wrote: () => undefined }) },
    schedule: [0],
    logger: createLogger('test', 'silent'),
  })

test('while many deliveries of a workspace wait in memory, those of others come first, and its own still come', async () => {
  const [many, few] = [await aBacklog(3000), await aBacklog(900)]
  const backlog = backlogOf((id) => id === many)
  await backlog.start?.()
  whenDone(() => backlog.stop?.())
  const own = await eventually('the others are done', async () => {
    const [row] = await admin<[{ ofMany: number; ofFew: number }]>`
      select count(*) filter (where workspace_id = ${many})::integer as "ofMany",
        count(*) filter (where workspace_id = ${few})::integer as "ofFew" from delivery`
    return row.ofFew === 900 && row.ofMany
  })
  expect(own).toBeLessThan(3000)
  await eventually('all are done', async () => (await inserted(many)) === 3000)
})

test('a workspace whose deliveries PostgreSQL refuses holds up no other one', async () => {
  const [refused, other] = [await aBacklog(1), await aBacklog(600)]
  await admin.unsafe(`
    create function refuse() returns trigger language plpgsql as $$ begin raise 'refused'; end $$;
    create trigger refuse before insert on delivery for each row
      when (new.workspace_id = '${refused}') execute function refuse()`)
  whenDone(() => admin.unsafe('drop trigger refuse on delivery'))
  const backlog = backlogOf(() => false)
  await backlog.start()
  whenDone(() => backlog.stop())
  await eventually('the other is done', async () => (await inserted(other)) === 600)
  expect(await inserted(refused)).toBe(0)
})

test('while events of a burst still come in, their deliveries wait, but get a turn each second', async () => {
  const workspaceId = await aBacklog(600)
  const backlog = backlogOf(() => false)
  const notedAt = performance.now()
  backlog.note([workspaceId], true)
  const coming = setInterval(() => backlog.note([workspaceId], true), 50)
  whenDone(() => clearInterval(coming))
  await backlog.start?.()
  whenDone(() => backlog.stop?.())
  await eventually('a turn is over', async () => (await inserted(workspaceId)) > 0)
  expect(performance.now() - notedAt).toBeGreaterThan(250)
  await eventually('all are done', async () => (await inserted(workspaceId)) === 600)
})

test('while bursts do not end, the backlog has its turns for as long as the intake goes first', async () => {
  const workspaceId = await aBacklog(900)
  const turns: number[] = []
  const backlog = backlogOf(() => {
    turns.push(performance.now())
    return false
  })
  const coming = setInterval(() => backlog.note([workspaceId], true), 5)
  whenDone(() => clearInterval(coming))
  backlog.note([workspaceId], true)
  await backlog.start?.()
  whenDone(() => backlog.stop?.())
  await eventually('all are done', async () => (await inserted(workspaceId)) === 900)
  const pauses = turns.slice(1).map((at, index) => at - (turns[index] ?? 0))
  expect(Math.min(...pauses)).toBeLessThan(900)
})

test('events that come many at once are a burst, a few with many deliveries are not', async () => {
  const caller = aCaller()
  for (let index = 0; index < 11; index++) await createEndpointAt(caller, 'https://example.com')
  const isBurst = async (events: number) => {
    const noted: unknown[] = []
    const options = {
      directory,
      dispatcher: { beginWriting: () => ({ token: 'ours', wrote: () => undefined }) },
      schedule: [0],
      clock: () => new Date(),
      backlog: { note: (_: Iterable<string>, isBurst?: boolean) => void noted.push(isBurst) },
    }
    const incoming = Array.from({ length: events }, () => ({ key: randomUUID(), value: anEvent(caller) }))
    const afterCommit = await worker.sql.begin((tx) => fanOutEvents(options, tx, incoming))
    afterCommit()
    return noted
  }
  expect([await isBurst(49), await isBurst(50)]).toEqual([[false], [true]])
})
