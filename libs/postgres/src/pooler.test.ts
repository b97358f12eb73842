import { randomUUID } from 'node:crypto'
import { createLogger } from '@backoffice/runtime/logger.ts'
import { meter, metricsText } from '@backoffice/runtime/metrics.ts'
import { testDatabase } from '@backoffice/testing/database.ts'
import { eventually } from '@backoffice/testing/eventually.ts'
import { SERVER_CONNECTIONS, startPooler } from '@backoffice/testing/pooler.ts'
import { whenDone } from '@backoffice/testing/when-done.ts'
import { expect, test } from 'vitest'
import { openDatabase, type Transaction } from './database.ts'
import { databaseProbe } from './database-probe.ts'
import { measureRows } from './measure-rows.ts'
import { isUnavailable } from './postgres-errors.ts'
import { refuseWrongDatabase } from './refuse-wrong-database.ts'
import { REQUEST_SETTINGS } from './request-settings.ts'

const { appUrl } = await testDatabase('catalog')
const pooler = await startPooler([appUrl])
const url = pooler.through(appUrl)

const contextOf = (workspaceId: string = randomUUID()) => ({ workspaceId, livemode: true, traceparent: 'trace' })

function open(
  options: { transactionSettings?: Record<string, string>; beginWithinMs?: number; endWithinMs?: number } = {},
) {
  const database = openDatabase({ url, applicationName: 'pooled', transactionSettings: REQUEST_SETTINGS, ...options })
  // After the loss of a connection in a transaction the driver takes five seconds to end.
  whenDone(() => void database.stop?.())
  return database
}

interface Settings {
  readonly pid: number
  readonly workspace: string
  readonly lock: string
  readonly statement: string
}
const settingsIn = async (tx: Transaction) => {
  const [row] = await tx<[Settings]>`
    select pg_backend_pid() as pid, current_setting('app.workspace_id') as workspace,
      current_setting('lock_timeout') as lock, current_setting('statement_timeout') as statement`
  return row
}

test('transactions of many workspaces share few connections, each with its own workspace and settings', async () => {
  const beginWithinMs = 60_000
  const [requests, others] = [open({ beginWithinMs }), open({ beginWithinMs, transactionSettings: {} })]
  const pids = new Set<number>()
  const transaction = async (number: number) => {
    const { workspaceId, ...context } = contextOf()
    const isRequest = number % 2 === 0
    const limits = number % 3 === 0 ? { statementMs: 5000 } : {}
    const { pid, ...settings } = await (isRequest ? requests : others).inWorkspace(
      { workspaceId, ...context },
      async (tx) => {
        await tx`insert into tag (workspace_id, id, name, slug) values (${workspaceId}, ${randomUUID()}, 'a', 'a')`
        expect(await tx`select workspace_id from tag`).toEqual([{ workspace_id: workspaceId }])
        return settingsIn(tx)
      },
      limits,
    )
    pids.add(pid)
    expect(settings).toEqual({
      workspace: workspaceId,
      lock: isRequest ? '3s' : '0',
      statement: number % 3 === 0 ? '5s' : '30s',
    })
  }
  await Promise.all(Array.from({ length: 200 }, (_, number) => transaction(number)))
  expect(pids.size).toBeLessThanOrEqual(SERVER_CONNECTIONS)
})

test('nothing of a transaction is left on the connection, whether it is committed or fails', async () => {
  const requests = open()
  const left = () =>
    requests.sql<{ workspace: string | null; lock: string; scan: string; statement: string }[]>`
      select nullif(current_setting('app.workspace_id', true), '') as workspace, current_setting('lock_timeout') as lock,
        current_setting('enable_seqscan') as scan, current_setting('statement_timeout') as statement`
  const nothing = { workspace: null, lock: '0', scan: 'on', statement: '30s' }
  for (let round = 0; round < 5; round++) {
    await requests.inWorkspace(contextOf(), settingsIn, { statementMs: 5000 })
    await expect(requests.inWorkspace(contextOf(), (tx) => tx`select 1 / 0`, { statementMs: 5000 })).rejects.toThrow()
    const rows = await Promise.all(Array.from({ length: 6 }, left))
    expect(rows.flat()).toEqual(rows.map(() => nothing))
  }
})

test('while the pooler is killed transactions fail as unavailable, and work again without a new pool', async () => {
  const requests = open()
  const read = () => requests.inWorkspace(contextOf(), (tx) => tx`select 7 as seven`)
  await read()
  const cut = requests.inWorkspace(contextOf(), (tx) => tx`select pg_sleep(30)`).catch((error: unknown) => error)
  await pooler.kill()
  expect(isUnavailable(await cut)).toBe(true)
  expect(isUnavailable(await read().catch((error: unknown) => error))).toBe(true)
  await pooler.start()
  expect(await eventually('it answers', () => read().catch(() => undefined))).toEqual([{ seven: 7 }])
})

test('while the pooler hangs transactions fail in time, keep nothing, and work again afterwards; the probe says so', async () => {
  const requests = open({ beginWithinMs: 2000, endWithinMs: 2000 })
  const workspace = contextOf()
  const tags = () => requests.inWorkspace(workspace, (tx) => tx`select slug from tag`)
  await tags()
  const probe = databaseProbe(
    { url, setting: 'DATABASE_URL', applicationName: 'probe' },
    { logger: createLogger('test', 'silent'), fatal: () => undefined },
  )
  await probe.start?.()
  whenDone(() => probe.stop?.())
  const { promise: hanging, resolve: hang } = Promise.withResolvers<void>()
  const underWay = requests
    .inWorkspace(workspace, async (tx) => {
      await tx`insert into tag (workspace_id, id, name, slug) values (${workspace.workspaceId}, ${randomUUID()}, 'a', 'a')`
      pooler.hang()
      hang()
      await tx`select 1`
    })
    .catch((error: unknown) => error)
  await hanging
  expect(await underWay).toMatchObject({ code: 'ETIMEDOUT' })
  expect(isUnavailable(await tags().catch((error: unknown) => error))).toBe(true)
  await expect(probe.isReady?.()).rejects.toThrow()
  pooler.resume()
  await eventually('it is ready', () => probe.isReady?.().catch(() => undefined))
  expect(await eventually('it answers', () => tags().catch(() => undefined))).toEqual([])
})

test('a command connects through the pooler; a parameter that the pooler does not hand on is refused by its name', async () => {
  await refuseWrongDatabase({ url }, 'DATABASE_URL')
  const wrong = new URL(url)
  wrong.searchParams.set('work_mem', '8MB')
  await expect(refuseWrongDatabase({ url: wrong.href }, 'DATABASE_URL')).rejects.toThrow(
    'DATABASE_URL: PostgreSQL refuses a parameter of the connection: unsupported startup parameter: work_mem',
  )
})

test('while the server hangs the metrics are served with what was read before, and a reading ends in time', async () => {
  const worker = open()
  const gauge = meter.createGauge('test_readings')
  let readings = 0
  const { promise: hanging, resolve: hang } = Promise.withResolvers<void>()
  const measuring = measureRows('readings', worker, createLogger('test', 'silent'), async (tx) => {
    gauge.record(++readings)
    if (readings === 1) return
    pooler.hang()
    hang()
    await tx`select 1`
  })
  // A replica that waits for its migrations measures nothing yet.
  expect(await metricsText()).not.toContain('measurement="readings"')
  await measuring.start()
  expect(await metricsText()).toMatch(/^measurement_age_seconds\{.*measurement="readings".*\}/m)
  await eventually('the first reading is over', () => readings === 1)
  measuring.wake()
  await hanging
  expect(await metricsText()).toMatch(/^test_readings 2$/m)
  await measuring.stop()
  pooler.resume()
  await eventually('it answers', () => worker.sql`select 1`.catch(() => undefined))
})
