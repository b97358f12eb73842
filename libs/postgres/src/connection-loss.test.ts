import { randomUUID } from 'node:crypto'
import { once } from 'node:events'
import { type AddressInfo, createServer } from 'node:net'
import { setTimeout as pause } from 'node:timers/promises'
import { testDatabase } from '@backoffice/testing/database.ts'
import { eventually } from '@backoffice/testing/eventually.ts'
import postgres from 'postgres'
import { afterAll, describe, expect, it, vi } from 'vitest'
import { type Database, openDatabase, type Transaction } from './database.ts'
import { isLostWhileOpened, isUnavailable } from './postgres-errors.ts'

const { admin, appUrl, db } = await testDatabase('catalog')
const context = { workspaceId: randomUUID(), livemode: true, traceparent: 'trace' }
const opened: Database[] = []
const open = (url: string, options: { poolSize?: number; beginWithinMs?: number } = {}) => {
  const database = openDatabase({ url, applicationName: 'test', ...options })
  opened.push(database)
  return database
}
afterAll(() => Promise.all(opened.map((database) => database.stop?.())))

/** The error it ends with. */
const errorOf = (work: Promise<unknown>): Promise<unknown> =>
  work.then(
    () => expect.fail('it did not fail'),
    (error: unknown) => error,
  )

const elsewhere = (change: Partial<URL>) => Object.assign(new URL(appUrl), change).href

describe('isUnavailable', () => {
  it.each([
    ['a closed port', { port: '1' }],
    ['a closed port of a name with two addresses', { hostname: 'localhost', port: '1' }],
    ['a name nobody has', { hostname: 'postgres.invalid' }],
  ])('is true of %s', async (_what, change) => {
    const away = open(elsewhere(change))
    expect(isUnavailable(await errorOf(away.inWorkspace(context, (tx) => tx`select 1`)))).toBe(true)
    expect(isUnavailable(await errorOf(away.sql`select 1`))).toBe(true)
  })

  it('is true of a balancer that has no server: it closes each connection at once', async () => {
    const balancer = createServer((socket) => socket.resume().end())
    await once(balancer.listen(0, '127.0.0.1'), 'listening')
    const { port } = balancer.address() as AddressInfo
    const away = open(elsewhere({ hostname: '127.0.0.1', port: String(port) }))
    expect(isUnavailable(await errorOf(away.sql`select 1`))).toBe(true)
    balancer.close()
  })

  it('is true of a statement that took too long or could not have its lock', async () => {
    const slow = db.inWorkspace(context, async (tx) => {
      await tx`set local statement_timeout = '1ms'`
      await tx`select pg_sleep(5)`
    })
    expect(isUnavailable(await errorOf(slow))).toBe(true)
    const locked = admin.begin(async (lock) => {
      await lock`lock table tag`
      return errorOf(db.inWorkspace(context, (tx) => tx`lock table tag in access share mode nowait`))
    })
    expect(isUnavailable(await locked)).toBe(true)
  })

  it('is true of a pool that is closed', async () => {
    const closed = open(appUrl)
    await closed.stop?.()
    expect(isUnavailable(await errorOf(closed.inWorkspace(context, (tx) => tx`select 1`)))).toBe(true)
  })

  it.each([
    ['another failure of a statement', 'select 1 / 0'],
    ['a statement that is none', 'selec 1'],
    ['what a role may not do', 'drop table tag'],
  ])('is false of %s', async (_what, text) => {
    expect(isUnavailable(await errorOf(db.sql.unsafe(text)))).toBe(false)
  })

  it.each([new Error('no'), Object.assign(new Error('no'), { code: 'ENOSPC' }), 'CONNECTION_CLOSED', undefined])(
    'is false of %s',
    (error) => expect(isUnavailable(error)).toBe(false),
  )
})

describe('a connection that is lost while it is opened', () => {
  const query = 'select from pg_catalog.pg_type'

  it('is known when PgBouncer refused it, and ends no process', () => {
    // It sends no severity but the one for people.
    const fields = { severity_local: 'FATAL', code: '08P01', message: 'query_wait_timeout' }
    const refused = new postgres.PostgresError(fields as never)
    expect(isLostWhileOpened(Object.assign(refused, { query }))).toBe(true)
  })

  it('is known without the class of its error, as where the errors of tests end', () => {
    const ended = { severity: 'FATAL', severity_local: 'FATAL', code: '57P01', query }
    expect(isLostWhileOpened(Object.assign(new Error('terminating connection'), ended))).toBe(true)
  })
})

it('a pool asks for the array types once: refused on a later connection, they would end the process', async () => {
  const asked: string[] = []
  const onStatement = (text: string) => void (text.includes('pg_catalog.pg_type') && asked.push(text))
  const two = openDatabase({ url: appUrl, applicationName: 'test', poolSize: 2, onStatement })
  opened.push(two)
  await two.sql`select 1`
  const { promise: areBoth, resolve } = Promise.withResolvers<void>()
  const pids = new Set<number>()
  const onAConnection = () =>
    two.inWorkspace({ ...context, workspaceId: randomUUID() }, async (tx) => {
      const [row] = await tx<{ pid: number; texts: string[] }[]>`
        select pg_backend_pid() as pid, ${['a', 'b']}::text[] as texts`
      if (pids.add(row?.pid ?? 0).size === 2) resolve()
      await areBoth
      return row?.texts
    })
  const texts = await Promise.all([onAConnection(), onAConnection()])
  expect(texts).toEqual([
    ['a', 'b'],
    ['a', 'b'],
  ])
  expect(asked).toHaveLength(1)
})

describe('a connection that is lost', () => {
  const terminate = (pid: number) => admin`select pg_terminate_backend(${pid})`

  it('fails the transaction on it as unavailable, keeps nothing of it, and is replaced', async () => {
    const one = open(appUrl, { poolSize: 1 })
    const lost = one.inWorkspace(context, async (tx) => {
      await tx`insert into tag (workspace_id, id, name, slug) values (${context.workspaceId}, ${randomUUID()}, 'a', 'a')`
      const [session] = await tx<{ pid: number }[]>`select pg_backend_pid() as pid`
      await Promise.all([tx`select pg_sleep(60)`, terminate(session?.pid ?? 0)])
    })
    expect(isUnavailable(await errorOf(lost))).toBe(true)
    expect(await admin`select from tag`).toHaveLength(0)
    expect(await one.inWorkspace(context, (tx) => tx`select 7 as seven`)).toEqual([{ seven: 7 }])
  })

  it.each<[string, (tx: Transaction) => unknown]>([
    ['a statement', (tx) => tx`select 1`],
    ['a text', (tx) => tx.unsafe('select 1')],
    ['the commit', () => 1],
    ['the rollback', () => Promise.reject(new Error('no'))],
  ])('fails its transaction and ends no process when it is lost before %s is sent', async (_, last) => {
    const one = open(appUrl, { poolSize: 1 })
    const { promise: isClosed, resolve: goOn } = Promise.withResolvers<void>()
    const lost = one.inWorkspace(context, async (tx) => {
      const [session] = await tx<{ pid: number }[]>`select pg_backend_pid() as pid`
      await terminate(session?.pid ?? 0)
      await isClosed
      await last(tx)
    })
    expect(isUnavailable(await errorOf(lost))).toBe(true)
    // Nobody has opened the connection anew: what is sent now finds none.
    goOn()
    await pause(50)
    expect(await one.inWorkspace(context, (tx) => tx`select 7 as seven`)).toEqual([{ seven: 7 }])
  })

  it('is replaced also when it was lost while nothing was sent on it', async () => {
    const one = open(appUrl, { poolSize: 1 })
    const [session] = await one.sql<{ pid: number }[]>`select pg_backend_pid() as pid`
    await terminate(session?.pid ?? 0)
    const failures: unknown[] = []
    const ask = () =>
      one.sql<{ seven: number }[]>`select 7 as seven`.catch((error: unknown) => void failures.push(error))
    expect(await eventually('an answer', ask)).toEqual([{ seven: 7 }])
    expect(failures.filter((error) => !isUnavailable(error))).toEqual([])
  })

  it('never leaves its transaction to the one that comes after', async () => {
    const one = open(appUrl, { poolSize: 1 })
    const insert = (slug: string) =>
      one.inWorkspace(context, async (tx) => {
        await tx`insert into tag (workspace_id, id, name, slug) values (${context.workspaceId}, ${randomUUID()}, ${slug}, ${slug})`
        if (slug === 'lost') await tx`select pg_terminate_backend(pg_backend_pid())`
        const [row] = await tx<{ count: number }[]>`select count(*) from tag`
        return row?.count
      })
    const ended = await Promise.allSettled(['lost', 'first', 'second'].map(insert))
    expect(ended.map(({ status }) => status)).toEqual(['rejected', 'fulfilled', 'fulfilled'])
    expect((await admin`select slug from tag order by slug`).map(({ slug }) => slug)).toEqual(['first', 'second'])
    await admin`truncate tag cascade`
  })
})

it('rolls back work that lost a connection to somewhere else', async () => {
  const error = Object.assign(new Error('no'), { code: 'ECONNREFUSED' })
  const one = open(appUrl, { poolSize: 1 })
  const failed = one.inWorkspace(context, async (tx) => {
    await tx`select 1`
    throw error
  })
  await expect(failed).rejects.toBe(error)
  expect(await one.sql`select 7 as seven`).toEqual([{ seven: 7 }])
})

it('tries a server that is away again soon, however long it was away', async () => {
  const away = open(elsewhere({ port: '1' }), { poolSize: 1 })
  const timers = vi.spyOn(globalThis, 'setTimeout')
  for (let count = 0; count < 6; count++) expect(isUnavailable(await errorOf(away.sql`select 1`))).toBe(true)
  // The driver's own delay grows to seconds.
  const delays = timers.mock.calls.flatMap(([call, ms]) => (call.name === 'connect' ? [ms ?? 0] : []))
  timers.mockRestore()
  expect(delays.length).toBeGreaterThanOrEqual(6)
  expect(Math.max(...delays)).toBeLessThanOrEqual(100)
})

it('fails a transaction that gets no connection in time as unavailable, and never runs it', async () => {
  const one = open(appUrl, { poolSize: 1, beginWithinMs: 5000 })
  await one.sql`select 1`
  const gate = Promise.withResolvers<void>()
  const holding = one.inWorkspace(context, () => gate.promise)
  let hasRun = false
  const late = one.inWorkspace({ ...context, workspaceId: randomUUID() }, async () => {
    hasRun = true
  })
  expect(await errorOf(late)).toMatchObject({ code: 'CONNECT_TIMEOUT' })
  expect(isUnavailable(await errorOf(late))).toBe(true)
  gate.resolve()
  await holding
  expect(await one.sql`select 7 as seven`).toEqual([{ seven: 7 }])
  expect(hasRun).toBe(false)
})
