import { randomUUID } from 'node:crypto'
import { openDatabase } from '@backoffice/postgres/database.ts'
import { createLogger } from '@backoffice/runtime/logger.ts'
import { aCaller } from '@backoffice/testing/caller.ts'
import { eventually } from '@backoffice/testing/eventually.ts'
import { whenDone } from '@backoffice/testing/when-done.ts'
import { expect, test } from 'vitest'
import { endpointDirectory } from '../endpoints/endpoint-directory.ts'
import { testKeys, webhookDelivery } from '../testing/webhooks-api.ts'
import { backlogWorker } from './backlog-worker.ts'

const { admin, workerUrl, createEndpointAt } = await webhookDelivery()
const worker = openDatabase({ url: workerUrl, applicationName: 'worker' })
whenDone(() => worker.stop?.())

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

test('while many deliveries of a workspace wait in memory, those of others come first, and its own still come', async () => {
  const [many, few] = [await aBacklog(3000), await aBacklog(900)]
  const backlog = backlogWorker({
    sql: worker.sql,
    directory: endpointDirectory(testKeys),
    dispatcher: {
      owns: () => true,
      hasMany: (id) => id === many,
      beginWriting: () => ({ token: 'ours', wrote: () => undefined }),
    },
    schedule: [0],
    logger: createLogger('test', 'silent'),
  })
  await backlog.start?.()
  whenDone(() => backlog.stop?.())
  const left = await eventually('the others are done', async () => (await inserted(few)) === 900 && inserted(many))
  expect(left).toBeLessThan(3000)
  await eventually('all are done', async () => (await inserted(many)) === 3000)
})
