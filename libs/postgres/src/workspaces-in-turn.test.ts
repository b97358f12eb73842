import { createLogger } from '@backoffice/runtime/logger.ts'
import { testDatabase } from '@backoffice/testing/database.ts'
import { eventually } from '@backoffice/testing/eventually.ts'
import { whenDone } from '@backoffice/testing/when-done.ts'
import { beforeEach, expect, it } from 'vitest'
import { openDatabase } from './database.ts'
import { workInTurn, workspacesInTurn } from './workspaces-in-turn.ts'

const { admin, db, workerUrl } = await testDatabase('catalog')
const worker = openDatabase({ url: workerUrl, applicationName: 'workspaces', poolSize: 2 })
whenDone(() => worker.stop?.())

const ids = [1, 2, 3].map((n) => `0198c7a0-0000-7000-8000-00000000000${n}`)
const waiting = () => worker.sql`select workspace_id as "workspaceId", livemode, traceparent from product_refresh`

beforeEach(async () => {
  await admin`truncate product_refresh`
  await admin`
    insert into product_refresh (workspace_id, product_id, is_change, livemode, traceparent)
    select id, gen_random_uuid(), true, true, 'trace' from unnest(${ids}::uuid[]) as id, generate_series(1, 2)`
})

it('each workspace comes once in a round, and a round begins anew after its end', async () => {
  const nextWorkspace = workspacesInTurn(worker.sql, waiting)
  const found = []
  for (let turn = 0; turn < 5; turn++) found.push((await nextWorkspace())?.workspaceId)
  expect(found).toEqual([...ids, undefined, ids[0]])
})

it('a worker does a batch of each workspace before the second one of any, and then nothing', async () => {
  const done: (string | undefined)[] = []
  const working = workInTurn({
    name: 'refreshes',
    everyMs: 10,
    afterRoundMs: 0,
    logger: createLogger('test', 'silent'),
    worker,
    db,
    waiting,
    async work(tx) {
      const { workspaceId, actor } = tx.context
      done.push(`${workspaceId} ${actor}`)
      const { count } = await tx`
        delete from product_refresh where workspace_id = ${workspaceId} and id = (select min(id) from product_refresh)`
      return count > 0
    },
  })
  whenDone(() => working.stop?.())
  await working.start?.()
  await eventually('all work is done', async () => (await admin`select from product_refresh`).length === 0)
  await working.stop?.()
  const round = ids.map((id) => `${id} refreshes`)
  expect(done).toEqual([...round, ...round])
})

it('a workspace whose work fails is logged, and the others have their turns', async () => {
  const lines: unknown[] = []
  const done = new Set<string>()
  const working = workInTurn({
    name: 'refreshes',
    everyMs: 10,
    afterRoundMs: 0,
    logger: Object.assign(createLogger('test', 'silent'), { warn: (line: unknown) => void lines.push(line) }),
    worker,
    db,
    waiting,
    async work({ context: { workspaceId } }) {
      if (workspaceId === ids[0]) throw new Error('refused')
      done.add(workspaceId)
      return true
    },
  })
  whenDone(() => working.stop?.())
  await working.start?.()
  await eventually('the others have their turns', async () => done.size === 2)
  await working.stop?.()
  expect(lines[0]).toEqual({ err: new Error('refused'), worker: 'refreshes', workspace_id: ids[0] })
})
