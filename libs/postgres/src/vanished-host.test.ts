import { randomUUID } from 'node:crypto'
import { createLogger } from '@backoffice/runtime/logger.ts'
import { testDatabase } from '@backoffice/testing/database.ts'
import { eventually } from '@backoffice/testing/eventually.ts'
import { startMovingAddress } from '@backoffice/testing/moving-address.ts'
import { whenDone } from '@backoffice/testing/when-done.ts'
import { expect, test } from 'vitest'
import { type DatabaseOptions, openDatabase } from './database.ts'
import { databaseProbe } from './database-probe.ts'
import { openLockSession } from './lock-session.ts'
import { isUnavailable } from './postgres-errors.ts'

const { appUrl, workerUrl } = await testDatabase('catalog')

const context = () => ({ workspaceId: randomUUID(), livemode: true, traceparent: 'trace' })
const errorOf = (work: Promise<unknown>): Promise<unknown> => work.then(() => undefined).catch((error) => error)

/** A pool over an address that can vanish. */
async function overMovingAddress(options: Partial<DatabaseOptions> = {}) {
  const address = await startMovingAddress(appUrl)
  const url = address.through(appUrl)
  const database = openDatabase({ url, applicationName: 'moved', idleSeconds: 1, ...options })
  // Ended later: the driver waits for the server's answer.
  whenDone(() => void database.stop?.())
  const probe = databaseProbe(
    { url, setting: 'DATABASE_URL', applicationName: 'moved probe' },
    { logger: createLogger('test', 'silent'), fatal: () => undefined },
  )
  whenDone(() => probe.stop?.())
  await probe.start?.()
  const isReady = () => Promise.resolve(probe.isReady?.()).catch(() => false)
  return { address, url, database, isReady }
}

test('statements that wait for a host that vanished fail as unavailable once the probe reaches the next', async () => {
  const { address, database, isReady } = await overMovingAddress({ poolSize: 3 })
  await database.inWorkspace(context(), (tx) => tx`select 1`)
  address.vanish()
  const waiting = [database.sql`select 1`, database.sql`select 2`, database.sql.begin((tx) => tx`select 3`)].map(
    errorOf,
  )
  expect(await isReady()).toBe(false)
  address.moveTo(appUrl)
  const isOver = Promise.all(waiting)
  await eventually('they have failed', async () => (await isReady()) && (await Promise.race([isOver, undefined])))
  for (const error of await isOver) expect(isUnavailable(error)).toBe(true)
  expect(await database.inWorkspace(context(), (tx) => tx`select 7 as seven`)).toEqual([{ seven: 7 }])
})

test('a pool listens again, and a lock session is lost, when the probe reaches the next host', async () => {
  const { address, url, database, isReady } = await overMovingAddress()
  const session = openLockSession({ url }, 'moved lock', 45_000)
  whenDone(() => session.close())
  await session.sql`select 1`
  const heard: string[] = []
  let listened = 0
  await database.sql.listen(
    'moved',
    (text) => heard.push(text),
    () => listened++,
  )
  address.vanish()
  expect(await isReady()).toBe(false)
  address.moveTo(appUrl)
  await eventually('it listens again', async () => (await isReady()) && listened === 2)
  const other = openDatabase({ url: workerUrl, applicationName: 'notifier' })
  whenDone(() => other.stop?.())
  await other.sql.notify('moved', 'here')
  await eventually('it hears', () => heard.includes('here'))
  expect(session.lost.aborted).toBe(true)
})

test('without a probe, a connection that is silent for too long is given up with its statements', async () => {
  const { address, database } = await overMovingAddress({ poolSize: 1, answerWithinMs: 3000 })
  await database.sql`select 1`
  address.vanish()
  const waiting = errorOf(database.sql`select 1`)
  address.moveTo(appUrl)
  expect(isUnavailable(await waiting)).toBe(true)
  expect(await database.sql`select 7 as seven`).toEqual([{ seven: 7 }])
})

test('a pool that found no server is not ready until it has answered, whatever the probe says', async () => {
  const { address, database } = await overMovingAddress({ poolSize: 1, beginWithinMs: 500 })
  const isReady = () => Promise.resolve(database.isReady?.()).catch(() => false)
  expect(await isReady()).toBe(true)
  await database.sql`select 1`
  address.vanish()
  const late = await errorOf(database.inWorkspace(context(), (tx) => tx`select 1`))
  expect(isUnavailable(late)).toBe(true)
  expect(await isReady()).toBe(false)
})
