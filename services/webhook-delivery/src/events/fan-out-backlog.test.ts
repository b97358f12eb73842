import { aCaller } from '@backoffice/testing/caller.ts'
import { beforeAll, expect, test } from 'vitest'
import { endpointDirectory } from '../endpoints/endpoint-directory.ts'
import { countedReads } from '../testing/rows-read.ts'
import { testKeys, webhookDelivery } from '../testing/webhooks-api.ts'
import { takeFromBacklog, workspacesInBacklog, workspacesWithBacklog } from './fan-out-backlog.ts'

const [ENDPOINTS, EVENTS, OTHERS] = [20, 500, 2000]
const { admin, workerUrl, createEndpointAt } = await webhookDelivery()
const { sql, rowsRead } = countedReads(workerUrl)
const caller = aCaller()

/** Events of a workspace in the backlog, and one of each of many others; half of these a former process has claimed. */
beforeAll(async () => {
  const endpointIds: string[] = []
  for (let index = 0; index < ENDPOINTS; index++)
    endpointIds.push((await createEndpointAt(caller, 'https://example.com')).id)
  await admin`
    with stored as (
      insert into event (workspace_id, id, type, key, body, occurred_at)
      select ${caller.workspaceId}, uuidv7(), 'product.created', 'key', '{}', now()
      from generate_series(1, ${EVENTS}::integer) returning workspace_id, id, body
    )
    insert into fan_out_backlog (workspace_id, event_id, endpoint_ids, deliveries, bytes)
    select workspace_id, id, ${endpointIds}::uuid[], ${ENDPOINTS}, octet_length(body) from stored order by id`
  await admin`
    insert into fan_out_backlog (workspace_id, event_id, endpoint_ids, deliveries, bytes, claimed_by)
    select uuidv7(), uuidv7(), array[uuidv7()], 1, 2, nullif(n % 2, 0) from generate_series(1, ${OTHERS}::integer) as n`
  await admin`analyze`
})

test('looking for workspaces with a backlog finds those that no former process has claimed, and reads a row for each', async () => {
  expect(await workspacesWithBacklog(sql)).toHaveLength(OTHERS / 2 + 1)
  expect(await rowsRead('fan_out_backlog')).toBeLessThanOrEqual(OTHERS + 4)
})

test('whether a workspace has one reads a row', async () => {
  const other = aCaller().workspaceId
  expect(await workspacesInBacklog(sql, [caller.workspaceId, other])).toEqual(new Set([caller.workspaceId]))
  expect(await rowsRead('fan_out_backlog')).toBeLessThanOrEqual(1)
})

test.each([
  ['this version', () => undefined],
  // It has this index instead of `fan_out_backlog_in_turn`, while this version still takes events.
  ['the next version', () => admin`create index backlog_in_turn on fan_out_backlog (workspace_id, position)`],
])('with the indexes of %s taking events out of the backlog reads the oldest of the workspace', async (_, prepare) => {
  await prepare()
  const { sql, rowsRead } = countedReads(workerUrl)
  const { events, left } = await takeFromBacklog(sql, endpointDirectory(testKeys), [caller.workspaceId])
  expect(events).toHaveLength(1000 / ENDPOINTS)
  expect(events.every(({ targets }) => targets.length === ENDPOINTS)).toBe(true)
  expect(left).toEqual([caller.workspaceId])
  const ids = events.map(({ id }) => id)
  expect(ids).toEqual(ids.toSorted())
  // The oldest; to find what is taken, and as it was deleted.
  expect(await rowsRead('fan_out_backlog', 'delete from fan_out_backlog')).toBeLessThanOrEqual(
    EVENTS + 2 * events.length,
  )
})
