import { randomUUID } from 'node:crypto'
import { Socket } from 'node:net'
import { TOPICS } from '@backoffice/contracts/events.ts'
import { metricsText } from '@backoffice/runtime/metrics.ts'
import { testDatabase } from '@backoffice/testing/database.ts'
import { eventually } from '@backoffice/testing/eventually.ts'
import { standStillAfterSending } from '@backoffice/testing/stand-still.ts'
import { whenDone } from '@backoffice/testing/when-done.ts'
import { beforeEach, describe, expect, it, vi } from 'vitest'
import { openDatabase, type Transaction } from './database.ts'
import { outboxRecord, publish } from './outbox.ts'

const { admin, appUrl, db, takeStatements } = await testDatabase('catalog')
const context = { workspaceId: randomUUID(), livemode: true, traceparent: 'trace' }
const insertTag = (tx: Transaction, slug: string) =>
  tx`insert into tag (workspace_id, id, name, slug) values (${tx.context.workspaceId}, ${randomUUID()}, ${slug}, ${slug})`
const slugs = async () => (await admin`select slug from tag order by slug`).map(({ slug }) => slug)

beforeEach(async () => {
  await admin`truncate tag, outbox cascade`
})

describe('inWorkspace', () => {
  it('gives the work its context, and its result back', async () => {
    const result = await db.inWorkspace(context, async (tx) => {
      const [row] = await tx`select current_setting('app.workspace_id') as workspace_id`
      return { ...tx.context, ...row }
    })
    expect(result).toEqual({ ...context, workspace_id: context.workspaceId })
  })

  it('adds three statements to those of the work: begin, the workspace with the settings of requests, commit', async () => {
    takeStatements()
    await db.inWorkspace(context, (tx) => tx`select 7`)
    expect(takeStatements().map((text) => text.trim())).toEqual([
      'begin',
      `select set_config('app.workspace_id', $1, true), set_config('app.actor', $2, true), set_config($3, $4, true), set_config($5, $6, true)`,
      'select 7',
      'commit',
    ])
  })

  it('takes two packets: what comes before the first answer that the work awaits, and the rest with the commit', async () => {
    const write = vi.spyOn(Socket.prototype, 'write')
    whenDone(() => write.mockRestore())
    const work = async (tx: Transaction) => {
      await tx`select 7 as seven`
      insertTag(tx, `t${write.mock.calls.length}`).execute()
    }
    // The driver asks for the types of parameters when it sends a statement over a connection for the first time.
    const one = openDatabase({ url: appUrl, applicationName: 'test', poolSize: 1 })
    whenDone(() => one.stop?.())
    await one.inWorkspace(context, work)
    write.mockClear()
    await one.inWorkspace(context, work)
    expect(write).toHaveBeenCalledTimes(2)
    expect(await slugs()).toHaveLength(2)
  })

  it('takes one packet when its only statement is the last, also when that fails', async () => {
    const one = openDatabase({ url: appUrl, applicationName: 'test', poolSize: 1 })
    whenDone(() => one.stop?.())
    const divided = (by: number) => one.inWorkspace(context, async (tx) => tx.last`select 6 / ${by}::integer as result`)
    await divided(1)
    const write = vi.spyOn(Socket.prototype, 'write')
    whenDone(() => write.mockRestore())
    expect(await divided(2)).toEqual([{ result: 3 }])
    expect(write).toHaveBeenCalledTimes(1)
    await expect(divided(0)).rejects.toMatchObject({ code: '22012' })
    expect(await divided(3)).toEqual([{ result: 2 }])
    expect(write).toHaveBeenCalledTimes(3)
  })

  it('refuses a statement behind the last, and fails with an error of the work after it', async () => {
    const behind = db.inWorkspace(context, async (tx) => {
      await tx.last`select 1`
      await tx`select slug from tag`
    })
    await expect(behind).rejects.toThrow('a statement of a transaction that has ended')
    const failing = db.inWorkspace(context, async (tx) => {
      await tx.last`select 1`
      throw new Error('not found')
    })
    await expect(failing).rejects.toThrow('not found')
  })

  it('keeps nothing when a statement fails that the work has not awaited, and fails with its error', async () => {
    const work = db.inWorkspace(context, async (tx) => {
      await insertTag(tx, 'a')
      tx`select 1 / 0`.execute()
      insertTag(tx, 'b').execute()
    })
    await expect(work).rejects.toMatchObject({ code: '22012' })
    expect(await slugs()).toEqual([])
  })

  it('keeps nothing when a statement that the work has not awaited waits for a lock beyond the time of the transaction', async () => {
    const hurried = openDatabase({ url: appUrl, applicationName: 'test', endWithinMs: 600 })
    whenDone(() => hurried.stop?.())
    const late = await admin.begin(async (holder) => {
      await holder`lock table tag in access exclusive mode`
      const ended = hurried.inWorkspace(context, async (tx) => {
        await tx`select pg_sleep(0.4)`
        insertTag(tx, 'late').execute()
      })
      return await ended.catch((error: unknown) => error)
    })
    expect(late).toMatchObject({ code: 'ETIMEDOUT' })
    const locks = () => admin`
      select from pg_locks join pg_database on pg_database.oid = database
      where datname = current_database() and relation = 'tag'::regclass`
    await eventually('it is rolled back', async () => (await locks()).length === 0)
    expect(await slugs()).toEqual([])
  })

  it('repeats a transaction that another one was in the way of for as long as one transaction may take', async () => {
    const hurried = openDatabase({ url: appUrl, applicationName: 'test', endWithinMs: 600 })
    whenDone(() => hurried.stop?.())
    const clashing = hurried.inWorkspace(context, async (tx) => {
      await tx`select pg_sleep(0.4)`
      await tx`do $$ begin raise serialization_failure; end $$`
    })
    await expect(clashing).rejects.toMatchObject({ code: 'ETIMEDOUT' })
  })

  it('takes a connection of its workspace for as long as its statement goes on, also beyond the time of the transaction', async () => {
    const hurried = openDatabase({ url: appUrl, applicationName: 'test', endWithinMs: 3000, beginWithinMs: 5000 })
    whenDone(() => hurried.stop?.())
    const another = () => hurried.inWorkspace(context, (tx) => tx`select pg_sleep(0.02)`)
    const seven = () => Promise.all(Array.from({ length: 7 }, another))
    await eventually('the connections are there', () => seven().catch(() => false))
    await admin.begin(async (holder) => {
      await holder`lock table tag in access exclusive mode`
      const most = Array.from({ length: 7 }, (_, n) => hurried.inWorkspace(context, (tx) => insertTag(tx, `late-${n}`)))
      for (const { reason } of (await Promise.allSettled(most)) as PromiseRejectedResult[])
        expect(reason).toMatchObject({ code: 'ETIMEDOUT' })
      await expect(another()).rejects.toMatchObject({ code: 'rate_limited' })
    })
    await eventually('the connections are free', () => another().catch(() => false))
  })

  it('sees no rows outside its transaction, should PostgreSQL refuse to begin it', async () => {
    await db.inWorkspace(context, (tx) => insertTag(tx, 'a'))
    const one = openDatabase({ url: appUrl, applicationName: 'test', poolSize: 1 })
    whenDone(() => one.stop?.())
    const begin = one.sql.unsafe
    vi.spyOn(one.sql, 'unsafe').mockImplementationOnce(((_text: string, ...options: []) =>
      Reflect.apply(begin, one.sql, ['begin no', ...options])) as never)
    const seen: unknown[] = []
    const work = one.inWorkspace(context, async (tx) => {
      seen.push(await tx`select slug from tag`)
    })
    await expect(work).rejects.toMatchObject({ code: '42601' })
    expect(seen.flat()).toEqual([])
    expect(await one.inWorkspace(context, (tx) => tx`select slug from tag`)).toEqual([{ slug: 'a' }])
  })

  it('keeps nothing of work that fails, and fails with its error', async () => {
    const error = new Error('no')
    const work = db.inWorkspace(context, async (tx) => {
      await insertTag(tx, 'a')
      throw error
    })
    await expect(work).rejects.toBe(error)
    expect(await slugs()).toEqual([])
  })

  it('does not pass for done when the work swallowed the error of a statement', async () => {
    const work = db.inWorkspace(context, async (tx) => {
      await insertTag(tx, 'a')
      await tx`select 1 / 0`.catch(() => undefined)
    })
    await expect(work).rejects.toMatchObject({ code: '22012' })
    expect(await slugs()).toEqual([])
  })
})

const isWaiting = () => admin`
  select from pg_stat_activity where wait_event_type = 'Lock' and datname = current_database()`

describe('the connections of a pool', () => {
  const other = { ...context, workspaceId: randomUUID() }
  const waitForLock = (pool = db) => pool.inWorkspace(context, (tx) => tx`update tag set name = 'b' where slug = 'a'`)
  const read = (pool = db, reader = other) => pool.inWorkspace(reader, (tx) => tx`select 7 as seven`)
  const open = (options: { poolSize: number; beginWithinMs: number }) => {
    const pool = openDatabase({ url: appUrl, applicationName: 'test', ...options })
    whenDone(() => pool.stop?.())
    return pool
  }
  /** Runs `work` while another transaction holds the lock on a tag. */
  const whileLocked = async (work: () => Promise<void>) => {
    await db.inWorkspace(context, (tx) => insertTag(tx, 'a'))
    await admin.begin(async (locking) => {
      await locking`select from tag where slug = 'a' for update`
      await work()
    })
  }

  it('are used by one workspace up to seven of ten, and another finds one free at once', async () => {
    let updates: Promise<unknown> | undefined
    await whileLocked(async () => {
      updates = Promise.all(Array.from({ length: 12 }, () => waitForLock()))
      await eventually('its transactions wait', async () => (await isWaiting()).length >= 7)
      expect(await Promise.all([read(), read(), read()])).toHaveLength(3)
      expect(await isWaiting()).toHaveLength(7)
    })
    await updates
  })

  it('are refused with rate_limited to a workspace that has all it may have, and to others as in use', async () => {
    const two = open({ poolSize: 2, beginWithinMs: 5000 })
    await Promise.all([read(two, context), read(two)])
    await whileLocked(async () => {
      waitForLock(two).catch(() => undefined)
      await expect(waitForLock(two)).rejects.toMatchObject({ code: 'rate_limited', headers: { 'retry-after': '1' } })
      const gate = Promise.withResolvers<void>()
      const held = two.inWorkspace(other, () => gate.promise)
      const late = read(two, { ...context, workspaceId: randomUUID() })
      await expect(late).rejects.toMatchObject({ code: 'CONNECT_TIMEOUT' })
      gate.resolve()
      await held
    })
  })

  it('are given back before a transaction is run again', async () => {
    const one = open({ poolSize: 1, beginWithinMs: 5000 })
    const runs: string[] = []
    const clashing = one.inWorkspace(context, async (tx) => {
      runs.push('a')
      if (runs.length === 1) await tx`do $$ begin raise exception using errcode = '40P01'; end $$`
    })
    const meanwhile = one.inWorkspace(other, async () => void runs.push('b'))
    await Promise.all([clashing, meanwhile])
    expect(runs).toEqual(['a', 'b', 'a'])
  })

  it('begin a transaction whose turn comes at the last moment', async () => {
    const one = open({ poolSize: 1, beginWithinMs: 5000 })
    const gate = Promise.withResolvers<void>()
    const held = one.inWorkspace(context, async (tx) => {
      await gate.promise
      // The next one has to connect, which takes some time.
      await tx`select pg_terminate_backend(pg_backend_pid())`
    })
    const late = read(one)
    const now = performance.now()
    const clock = vi.spyOn(performance, 'now').mockReturnValue(now + 5000)
    whenDone(() => clock.mockRestore())
    gate.resolve()
    await expect(held).rejects.toThrow()
    expect(await late).toEqual([{ seven: 7 }])
  })

  it('begin a transaction in time when the process stood still while PostgreSQL began it', async () => {
    const one = open({ poolSize: 1, beginWithinMs: 3000 })
    await read(one)
    standStillAfterSending('begin', 4000)
    expect(await read(one)).toEqual([{ seven: 7 }])
  })
})

describe('a transaction that another one was in the way of', () => {
  it('is run again after a real deadlock, and both are done', async () => {
    await db.inWorkspace(context, async (tx) => [await insertTag(tx, 'a'), await insertTag(tx, 'b')])
    const [bothHold, oneIsDone] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
    let runs = 0
    const touch = async (first: string, second: string) => {
      await db.inWorkspace(context, async (tx) => {
        // The one that lost starts over when the other has finished: else the two could meet again.
        if (runs >= 2) await oneIsDone.promise
        await tx`update tag set name = ${first} where slug = ${first}`
        if (++runs === 2) bothHold.resolve()
        await bothHold.promise
        await tx`update tag set name = ${`${first}${second}`} where slug = ${second}`
      })
      oneIsDone.resolve()
    }
    await Promise.all([touch('a', 'b'), touch('b', 'a')])
    expect(runs).toBe(3)
    const names = (await admin`select name from tag order by slug`).map(({ name }) => name)
    expect([
      ['a', 'ab'],
      ['ba', 'b'],
    ]).toContainEqual(names)
  })

  it('is run again after a unique violation, and then sees what was there first', async () => {
    const seen: number[] = []
    let second: Promise<void> | undefined
    await db.inWorkspace(context, async (tx) => {
      await insertTag(tx, 'mug')
      second = db.inWorkspace(context, async (later) => {
        const { count } = await later`select from tag where slug = 'mug'`
        seen.push(count)
        await insertTag(later, count === 0 ? 'mug' : 'mug-2')
      })
      await eventually('the second waits for the first', async () => (await isWaiting()).length === 1)
    })
    await second
    expect(seen).toEqual([0, 1])
    expect(await slugs()).toEqual(['mug', 'mug-2'])
  })

  it('is run again after a foreign key violation, and then sees that what it referred to is gone', async () => {
    const insertCategory = (tx: Transaction, slug: string, parent: string | null) => tx`
      insert into category (workspace_id, id, name, slug, parent_id, created_at, updated_at)
      values (${context.workspaceId}, ${randomUUID()}, ${slug}, ${slug}, ${parent}, now(), now())`
    await db.inWorkspace(context, (tx) => insertCategory(tx, 'parent', null))
    const seen: number[] = []
    let second: Promise<void> | undefined
    await admin.begin(async (deleting) => {
      await deleting`delete from category`
      second = db.inWorkspace(context, async (tx) => {
        const found = await tx<{ id: string }[]>`select id from category where slug = 'parent'`
        seen.push(found.length)
        if (found[0]) await insertCategory(tx, 'child', found[0].id)
      })
      await eventually('the second waits for the first', async () => (await isWaiting()).length === 1)
    })
    await second
    expect(seen).toEqual([1, 0])
    expect(await admin`select from category`).toHaveLength(0)
  })

  it.each(['40P01', '40001', '23503', '23505'])('is run three times at most: %s', async (code) => {
    let runs = 0
    const work = db.inWorkspace(context, async (tx) => {
      runs++
      await tx.unsafe(`do $$ begin raise exception using errcode = '${code}'; end $$`)
    })
    await expect(work).rejects.toMatchObject({ code })
    expect(runs).toBe(3)
  })

  it.each(['22012', '23502', '57014'])('is not run again after any other failure: %s', async (code) => {
    let runs = 0
    const work = db.inWorkspace(context, async (tx) => {
      runs++
      await tx.unsafe(`do $$ begin raise exception using errcode = '${code}'; end $$`)
    })
    await expect(work).rejects.toMatchObject({ code })
    expect(runs).toBe(1)
  })
})

it('measures how many transactions of a pool wait for a connection, and how long they did', async () => {
  const small = openDatabase({ url: appUrl, applicationName: 'measured', poolSize: 1 })
  whenDone(() => small.stop?.())
  const { promise: isOver, resolve: end } = Promise.withResolvers<void>()
  const first = small.inWorkspace(context, async (tx) => {
    await tx`select 1`
    await isOver
  })
  const second = small.inWorkspace({ ...context, workspaceId: randomUUID() }, (tx) => tx`select 1`)
  // Waits for its own workspace, not for the pool.
  const third = small.inWorkspace(context, (tx) => tx`select 1`)
  const shown = (line: string) => eventually(line, async () => (await metricsText()).includes(`\n${line}\n`))
  await shown('postgres_transactions_active{pool="measured"} 1')
  await shown('postgres_transactions_waiting{pool="measured"} 1')
  end()
  await Promise.all([first, second, third])
  await shown('postgres_transactions_active{pool="measured"} 0')
  await shown('postgres_transactions_waiting{pool="measured"} 0')
  await shown('postgres_transaction_wait_seconds_count{pool="measured"} 3')
  await shown('postgres_pool_connections{pool="measured"} 1')
})

it('the keys of a workspace get its connections in turn', async () => {
  const small = openDatabase({ url: appUrl, applicationName: 'in turn', poolSize: 1 })
  whenDone(() => small.stop?.())
  const begun: string[] = []
  const begin = (name: string) =>
    small.inWorkspace({ ...context, actor: name.charAt(0) }, async () => void begun.push(name))
  await Promise.all(['a1', 'a2', 'a3', 'a4', 'b1'].map(begin))
  expect(begun).toEqual(['a1', 'a2', 'b1', 'a3', 'a4'])
})

it('reads int8 as a number, in rows, lists and null', async () => {
  const [row] = await db.sql`
    select 9007199254740991::int8 as max, -9007199254740991::int8 as min, array[1, 2]::int8[] as list, null::int8 as none`
  expect(row).toEqual({ max: Number.MAX_SAFE_INTEGER, min: Number.MIN_SAFE_INTEGER, list: [1, 2], none: null })
  const [sent] = await db.sql`select ${Number.MAX_SAFE_INTEGER}::int8 as max`
  expect(sent?.max).toBe(Number.MAX_SAFE_INTEGER)
})

it('takes undefined, where the types did not keep it out, for null', async () => {
  const read = (value: never) => db.inWorkspace(context, (tx) => tx`select ${value}::text as value`)
  expect(await read(undefined as never)).toEqual([{ value: null }])
  expect(await read(undefined as never)).toEqual([{ value: null }])
})

describe('onPublished', () => {
  const published: number[] = []
  const countPublished = () => admin`select from outbox`.then(({ count }) => published.push(count))
  const publisher = openDatabase({ url: appUrl, applicationName: 'test', onPublished: countPublished })
  const tag = { id: randomUUID(), name: 'a', slug: 'a' }
  const record = outboxRecord(TOPICS.catalogEvents, 'tag.created', tag.id, tag)
  whenDone(() => publisher.stop?.())

  it('is called after the commit of what wrote to the outbox, and of that only', async () => {
    await publisher.inWorkspace(context, (tx) => insertTag(tx, 'a'))
    await publisher.inWorkspace(context, (tx) => publish(tx, [], new Date()))
    const failed = publisher.inWorkspace(context, async (tx) => {
      await publish(tx, [record], new Date())
      throw new Error('no')
    })
    await expect(failed).rejects.toThrow('no')
    await publisher.inWorkspace(context, (tx) => publish(tx, [record], new Date()))
    await eventually('it is called', () => published.length > 0)
    expect(published).toEqual([1])
  })
})
