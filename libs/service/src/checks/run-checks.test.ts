import { aCaller } from '@backoffice/testing/caller.ts'
import { testDatabase } from '@backoffice/testing/database.ts'
import { eventually } from '@backoffice/testing/eventually.ts'
import { expect, test } from 'vitest'
import { checkRuns } from '../testing/check-runs.ts'

const database = await testDatabase('catalog')
const { admin } = database
const [MANY, LARGE, WRONG, WAITING] = ['check-stock', 'check-orders', 'check-members', 'check-apps'] as const

let [underWay, most] = [0, 0]
const { first, send, startReplica, ask, read, ended, run } = await checkRuns(
  'catalog',
  {
    [MANY]: {
      async run({ report }) {
        for (let index = 0; index < 1500; index++) report({ index })
        report({ index: -1, tooYoung: true })
        return { seen: 1501 }
      },
    },
    [LARGE]: {
      async run({ report }) {
        for (let index = 0; index < 30; index++) report({ text: 'x'.repeat(100_000) })
        return {}
      },
    },
    [WRONG]: {
      async run({ sql }) {
        await sql`select 1 / 0`
        return {}
      },
    },
    [WAITING]: {
      async run({ sql }) {
        most = Math.max(most, ++underWay)
        try {
          await sql`select from variant`
          return {}
        } finally {
          underWay--
        }
      },
    },
  },
  database,
)

/** Keeps WAITING from its end until it is released. */
async function hold() {
  const { promise: released, resolve } = Promise.withResolvers<void>()
  const held = Promise.withResolvers<void>()
  const done = admin.begin(async (tx) => {
    await tx`lock variant in access exclusive mode`
    held.resolve()
    await released
  })
  await held.promise
  return async () => {
    resolve()
    await done
  }
}
/** The backend in which a check waits for the lock. */
const waitsIn = () =>
  eventually('the check waits', async () => {
    const [row] = await admin<{ pid: number }[]>`
      select pid from pg_stat_activity
      where datname = current_database() and application_name = 'catalog checks' and wait_event_type = 'Lock'`
    return row?.pid
  })

test('of many findings the first thousand are kept and all are counted, without those that are too young', async () => {
  const many = await run(MANY)
  expect(many).toMatchObject({ state: 'SUCCEEDED', found: 1500, checked: { seen: 1501 }, error: null })
  expect(many.findings).toHaveLength(1000)
  expect(many.findings[0]).toEqual({ index: 0 })
  const large = await run(LARGE)
  expect([large.found, large.findings.length]).toEqual([30, 11])
})

test('a check that fails says why, and the next one runs', async () => {
  expect(await run(WRONG)).toMatchObject({ state: 'FAILED', error: 'division by zero', found: 0 })
  expect(await run(MANY)).toMatchObject({ state: 'SUCCEEDED' })
})

test('parameters that a check does not take, and a check that is none, are refused', async () => {
  expect(await ask('reconcile')).toMatchObject({ status: 404 })
  const refused = await ask(MANY, { since: '2027-01-01T00:00:00Z' })
  expect(refused).toMatchObject({ status: 400, body: { error: { message: 'since: unknown member' } } })
})

test('who asks twice at once gets one run, and runs are carried out one at a time among replicas', async () => {
  const [release, other] = [await hold(), await startReplica()]
  const both = await Promise.all([ask(WAITING), ask(WAITING)])
  expect(new Set(both.map(({ body }) => body.id)).size).toBe(1)
  await waitsIn()
  const { body: queued } = await ask(MANY)
  other.wake()
  expect(await read(queued.id)).toMatchObject({ state: 'PENDING' })
  await release()
  await Promise.all([ended(both[0]?.body.id ?? ''), ended(queued.id)])
  expect([most, underWay]).toEqual([1, 0])
  const { body } = await send<{ runs: { check: string }[] }>(aCaller(), 'GET', '/internal/checks/runs')
  expect(body.runs.map(({ check }) => check)).toEqual([WAITING, WRONG, LARGE, MANY])
  await other.stop?.()
})

test('a run whose replica stops, or loses its connection, is begun again; after five times it has failed', async () => {
  const release = await hold()
  const stopped = await startReplica()
  const { body } = await ask(WAITING)
  await admin`select pg_terminate_backend(${await waitsIn()})`
  for (let begun = 2; begun <= 5; begun++) {
    const another = await eventually('it waits again', async () => {
      stopped.wake()
      first.wake()
      const [row] = await admin<{ begun: number }[]>`select begun from check_run where id = ${body.id}`
      return row?.begun === begun && (await waitsIn())
    })
    if (begun === 2) await stopped.stop?.()
    await admin`select pg_terminate_backend(${another})`
  }
  await eventually('it has failed', async () => {
    first.wake()
    return (await read(body.id))?.state === 'FAILED'
  })
  expect((await read(body.id))?.error).toContain('begun 5 times')
  await release()
  expect(await run(WAITING)).toMatchObject({ state: 'SUCCEEDED' })
})

test('runs are kept for a week', async () => {
  const { id } = await run(MANY)
  await admin`update check_run set ended_at = now() - interval '8 days' where id = ${id}`
  await eventually('it is deleted', async () => {
    first.wake()
    return (await read(id)) === null
  })
})
