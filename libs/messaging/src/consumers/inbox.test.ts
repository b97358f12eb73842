import { randomUUID } from 'node:crypto'
import { openDatabase } from '@backoffice/postgres/database.ts'
import { inTransaction } from '@backoffice/postgres/transaction.ts'
import { traceparentFrom } from '@backoffice/runtime/trace-context.ts'
import { testDatabase } from '@backoffice/testing/database.ts'
import { afterAll, expect, test, vi } from 'vitest'
import { handleOnce } from './inbox.ts'

const { admin, db, appUrl } = await testDatabase('catalog')
const other = openDatabase({ url: appUrl, applicationName: 'other replica', poolSize: 1 })
afterAll(() => other.stop?.())

interface Message {
  readonly workspace: string
  readonly id: string
  readonly fails?: boolean
}

/** Tags stand for any effect: its rows belong to a workspace and do not refuse to be written twice. */
const handle = (messages: readonly Message[], { sql } = db) =>
  inTransaction(sql, async (begun) => {
    for (const { workspace: workspaceId, id, fails } of messages) {
      const context = { workspaceId, livemode: true, actor: 'test', traceparent: traceparentFrom(undefined) }
      await handleOnce(begun, context, { consumer: 'test.inbox', id }, async (tx) => {
        const slug = randomUUID()
        await tx`insert into tag (workspace_id, id, name, slug) values (${tx.context.workspaceId}, ${slug}, ${id}, ${slug})`
        if (fails) throw new Error('no')
      })
    }
  })
const effects = async (workspace: string) =>
  (await admin`select name from tag where workspace_id = ${workspace} order by name`).map(({ name }) => name)

test('a message that comes again has no effect again', async () => {
  const workspace = randomUUID()
  await handle([{ workspace, id: 'a' }])
  await handle([{ workspace, id: 'a' }])
  await handle([{ workspace, id: 'b' }])
  expect(await effects(workspace)).toEqual(['a', 'b'])
})

test('a message that is handled in two places at once has one effect', async () => {
  const workspace = randomUUID()
  await Promise.all([handle([{ workspace, id: 'a' }]), handle([{ workspace, id: 'a' }], other)])
  expect(await effects(workspace)).toEqual(['a'])
})

test('a message whose effect failed is new when it comes again', async () => {
  const workspace = randomUUID()
  await expect(handle([{ workspace, id: 'a', fails: true }])).rejects.toThrow('no')
  await handle([{ workspace, id: 'a' }])
  expect(await effects(workspace)).toEqual(['a'])
})

test('messages of several workspaces have their effects each in its own, under ids of its own', async () => {
  const [one, two] = [randomUUID(), randomUUID()]
  await handle([
    { workspace: one, id: 'a' },
    { workspace: two, id: 'a' },
    { workspace: one, id: 'b' },
  ])
  expect([await effects(one), await effects(two)]).toEqual([['a', 'b'], ['a']])
})

test('messages are forgotten after a month by both clocks, some with each new one', async () => {
  const workspace = randomUUID()
  await admin`
    insert into inbox (workspace_id, consumer, message_id, received_at)
    select ${workspace}, 'test.inbox', n::text, now() - make_interval(days => 20 + n) from generate_series(1, 25) as n`
  // As if the clock of PostgreSQL were a month ahead.
  vi.useFakeTimers({ toFake: ['Date'], now: Date.now() - 30 * 86_400_000 })
  await handle([{ workspace, id: 'early' }]).finally(vi.useRealTimers)
  expect(await admin`select from inbox where workspace_id = ${workspace}`).toHaveLength(26)
  await handle([{ workspace, id: 'new' }])
  expect(await admin`select from inbox where workspace_id = ${workspace}`).toHaveLength(17)
  await handle([{ workspace, id: 'newer' }])
  const left = await admin`select message_id from inbox where workspace_id = ${workspace} order by received_at`
  expect(left.map(({ message_id }) => message_id)).toEqual([
    ...['9', '8', '7', '6', '5', '4', '3', '2', '1'],
    'early',
    'new',
    'newer',
  ])
})
