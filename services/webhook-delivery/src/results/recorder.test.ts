import { setTimeout as pause } from 'node:timers/promises'
import { openDatabase } from '@backoffice/postgres/database.ts'
import { metricsText } from '@backoffice/runtime/metrics.ts'
import { backingServices } from '@backoffice/testing/backing-services.ts'
import { eventually } from '@backoffice/testing/eventually.ts'
import { afterAll, expect, test } from 'vitest'
import type { Attempt } from '../sending/attempt.ts'
import { Recorder, type WriteAttempts } from './recorder.ts'

const attempt = (deliveryId: string, endpointId = 'endpoint', body = Buffer.from('answer')) =>
  ({
    job: { deliveryId, target: { workspaceId: 'workspace', id: endpointId }, attemptsMade: 0 },
    status: 'PENDING',
    exchange: {
      durationMs: 1,
      response: { status: 500, headers: { server: 'x' }, body, isTruncated: false },
      failure: { class: 'status', message: 'answered 500' },
    },
  }) as unknown as Attempt
const idsOf = (attempts: readonly Attempt[]) => attempts.map(({ job }) => job.deliveryId)
const all = (attempts: readonly Attempt[]) => new Map(idsOf(attempts).map((id) => [id, null]))

/** A recorder over a statement that a test gives. */
function recorderOver(write: WriteAttempts = async (attempts) => all(attempts)) {
  const settled: string[][] = []
  const recorded: string[] = []
  const lines: { level: string; line: Record<string, unknown> }[] = []
  const log = (level: string) => (line: unknown) => void lines.push({ level, line: line as Record<string, unknown> })
  const recorder = new Recorder({
    write,
    onSettled: (attempts, ids) => {
      settled.push(idsOf(attempts))
      recorded.push(...ids.keys())
    },
    logger: { warn: log('warn'), error: log('error') },
    limits: { bugMs: 250, longestWaitMs: 100 },
  })
  return { recorder, settled, recorded, lines }
}

const { sql, stop } = openDatabase({ url: backingServices().postgresUrl, applicationName: 'test' })
afterAll(() => stop?.())

const raised = (sqlState: string) =>
  sql.unsafe(`do $$ begin raise exception using errcode = '${sqlState}'; end $$`).catch((error: unknown) => error)
/** Errors of PostgreSQL as it makes them. */
const refusals = {
  '22P05': await sql`select (chr(34) || chr(92) || 'u0000' || chr(34))::jsonb`.catch((error: unknown) => error),
  '57014': await sql
    .begin(async (tx) => {
      await tx`set local statement_timeout = 20`
      await tx`select pg_sleep(1)`
    })
    .catch((error: unknown) => error),
}

test('the metric of what is unwritable is 0 before anything is: increase() misses the first of a later series', async () => {
  expect(await metricsText()).toMatch(/^webhook_attempts_unwritable_total 0$/m)
})

test('attempts that end together are written together', async () => {
  const { recorder, settled } = recorderOver()
  for (const id of ['a', 'b', 'c']) recorder.add(attempt(id))
  await recorder.settled()
  expect(settled).toEqual([['a', 'b', 'c']])
})

test('what ends during a write goes with the next', async () => {
  const { recorder, settled } = recorderOver(async (attempts) => {
    if (attempts[0]?.job.deliveryId === 'a') recorder.add(attempt('b'))
    return new Map()
  })
  recorder.add(attempt('a'))
  await recorder.settled()
  expect(settled).toEqual([['a'], ['b']])
})

test('a write has a few megabytes of answers at most', async () => {
  const { recorder, settled } = recorderOver()
  for (let each = 0; each < 500; each++) recorder.add(attempt(String(each), 'endpoint', Buffer.alloc(16 * 1024)))
  await recorder.settled()
  expect(settled.flat()).toEqual(Array.from({ length: 500 }, (_, each) => String(each)))
  expect(Math.max(...settled.map(({ length }) => length))).toBeLessThanOrEqual(256)
})

test('attempts whose rows another transaction holds wait apart; the others are written, and the log and a metric say so', async () => {
  const lockTimeout = await raised('55P03')
  let isHeld = true
  let measured: string | undefined
  const { recorder, recorded, lines } = recorderOver(async (attempts) => {
    if (!isHeld || attempts.every(({ job }) => job.target.id !== 'held')) return all(attempts)
    measured = /^webhook_attempts_unwritten_seconds ([\d.]+)$/m.exec(await metricsText())?.[1]
    throw lockTimeout
  })
  const ids = ['1', '2', '3', '4', '5', '6']
  for (const id of ids) recorder.add(attempt(id, Number(id) % 3 === 0 ? 'held' : `other ${id}`))
  await eventually('the others are written', () => recorded.length === 4)
  recorder.add(attempt('7', 'held'))
  recorder.add(attempt('8', 'other'))
  await eventually('a later one, too', () => recorded.includes('8'))
  expect(recorded.toSorted()).toEqual(['1', '2', '4', '5', '8'])
  await eventually('the metric says so', () => Number(measured) > 0)
  isHeld = false
  await recorder.settled()
  expect(recorded.toSorted()).toEqual([...ids, '7', '8'])
  expect(lines).toMatchObject([{ level: 'warn', line: { endpoint_id: 'held', attempts: 2 } }])
  expect(await metricsText()).toMatch(/^webhook_attempts_unwritten_seconds 0$/m)
})

test('what another transaction held is written with all others again once it is free, however busy the endpoint is', async () => {
  const lockTimeout = await raised('55P03')
  let isHeld = true
  const together: string[][] = []
  const { recorder, recorded } = recorderOver(async (attempts, lockMs) => {
    if (isHeld && attempts.some(({ job }) => job.target.id === 'held')) throw lockTimeout
    if (lockMs === 1000) together.push(idsOf(attempts))
    // One more of the endpoint ends during each write.
    if (recorded.length < 30) recorder.add(attempt(`later ${recorded.length}`, 'held'))
    return all(attempts)
  })
  recorder.add(attempt('1', 'held'))
  recorder.add(attempt('2', 'other'))
  await eventually('the other is written', () => recorded.includes('2'))
  isHeld = false
  await recorder.settled()
  expect(together.flat().filter((id) => id.startsWith('later')).length).toBeGreaterThan(20)
})

test('the endpoint whose rows are held is found by halves', async () => {
  const lockTimeout = await raised('55P03')
  let [isHeld, writes] = [true, 0]
  const { recorder, recorded } = recorderOver(async (attempts) => {
    writes++
    if (isHeld && attempts.some(({ job }) => job.target.id === 'endpoint 40')) throw lockTimeout
    return all(attempts)
  })
  for (let n = 0; n < 128; n++) recorder.add(attempt(String(n), `endpoint ${n % 64}`))
  await eventually('the others are written', () => recorded.length === 126)
  expect(writes).toBeLessThanOrEqual(1 + 2 * 6)
  isHeld = false
  await recorder.settled()
  expect(recorded).toHaveLength(128)
})

test('a bug that held attempts meet ends as one of others, while others are written', async () => {
  const [lockTimeout, bug] = [await raised('55P03'), await raised('42601')]
  let error: unknown = lockTimeout
  const { recorder, settled, recorded } = recorderOver(async (attempts) => {
    if (attempts.some(({ job }) => job.target.id === 'held')) throw error
    return all(attempts)
  })
  recorder.add(attempt('1', 'held'))
  recorder.add(attempt('2', 'other'))
  await eventually('the other is written', () => recorded.includes('2'))
  error = bug
  const beside = setInterval(() => recorder.add(attempt(crypto.randomUUID(), 'other')), 5)
  await eventually('it is given up', () => settled.flat().includes('1'))
  clearInterval(beside)
  await recorder.settled()
  expect(recorded).not.toContain('1')
})

test('what has gathered during a long write is written at once: it is in the table soon after it ended', async () => {
  const happened: string[] = []
  const { recorder } = recorderOver(async (attempts) => {
    happened.push(...idsOf(attempts))
    if (happened.length > 1) return all(attempts)
    recorder.add(attempt('b'))
    await pause(300)
    setTimeout(() => happened.push('a timer'), 1)
    return all(attempts)
  })
  recorder.add(attempt('a'))
  await recorder.settled()
  await pause(10)
  expect(happened).toEqual(['a', 'b', 'a timer'])
})

test('what ends just as the last write is over is written as well', async () => {
  const written: string[] = []
  const recorder = new Recorder({
    write: async (attempts) => all(attempts),
    onSettled: (attempts) => {
      written.push(...idsOf(attempts))
      if (written.length === 1) queueMicrotask(() => recorder.add(attempt('b')))
    },
    logger: { warn: () => undefined, error: () => undefined },
  })
  recorder.add(attempt('a'))
  await recorder.settled()
  await recorder.settled()
  expect(written).toEqual(['a', 'b'])
})

test.each([
  ['is away', Object.assign(new Error('away'), { code: 'ECONNREFUSED' })],
  ['is read-only', await raised('25006')],
  ['has no disk left', await raised('53100')],
  ['is shut down', await raised('57P01')],
  ['lacks a grant', await raised('42501')],
])('a write is repeated while PostgreSQL %s, as it is; the log and a metric say so', async (_, err) => {
  const tries: string[][] = []
  let measured: string | undefined
  const { recorder, settled, recorded, lines } = recorderOver(async (attempts) => {
    tries.push(idsOf(attempts))
    if (tries.length > 6) return all(attempts)
    measured = /^webhook_attempts_unwritten_seconds ([\d.]+)$/m.exec(await metricsText())?.[1]
    throw err
  })
  for (const id of ['a', 'b']) recorder.add(attempt(id))
  await recorder.settled()
  expect(tries).toEqual(Array.from({ length: 7 }, () => ['a', 'b']))
  expect([settled, recorded]).toEqual([[['a', 'b']], ['a', 'b']])
  expect(lines).toMatchObject([{ level: 'warn', line: { attempts: 2, failures: 1, err } }])
  expect(Number(measured)).toBeGreaterThan(0)
  expect(await metricsText()).toMatch(/^webhook_attempts_unwritten_seconds 0$/m)
})

test.each([
  ['ours', new TypeError('no member of undefined')],
  ['a statement', await raised('42601')],
])('a bug of %s is waited for, and later the attempt that meets it is written without its answer', async (_, bug) => {
  let tries = 0
  const { recorder, recorded, lines } = recorderOver(async (attempts) => {
    const bad = attempts.find(({ job, exchange }) => job.deliveryId === 'b' && exchange.response?.body.length)
    if (!bad) return all(attempts)
    tries++
    throw bug
  })
  for (const id of ['a', 'b', 'c']) recorder.add(attempt(id))
  await recorder.settled()
  expect(recorded.toSorted()).toEqual(['a', 'b', 'c'])
  expect(tries).toBeGreaterThan(3)
  expect(lines.map(({ level }) => level)).toEqual(['warn', 'error'])
})

test.each(['22P05', '57014'] as const)(
  'of a batch that PostgreSQL refuses with %s all others are written',
  async (code) => {
    const ids = Array.from({ length: 20 }, (_, index) => `${index}`)
    const bare: Attempt[] = []
    const { recorder, recorded, lines } = recorderOver(async (attempts) => {
      const bad = attempts.find(({ job, exchange }) => job.deliveryId === '7' && exchange.response?.body.length)
      if (bad) throw refusals[code]
      bare.push(...attempts.filter(({ job }) => job.deliveryId === '7'))
      return all(attempts)
    })
    for (const id of ids) recorder.add(attempt(id))
    await recorder.settled()
    expect(recorded.toSorted()).toEqual(ids.toSorted())
    expect(bare).toMatchObject([
      { status: 'PENDING', exchange: { response: { status: 500, headers: {} }, failure: { class: 'status' } } },
    ])
    const errors = lines.filter(({ level }) => level === 'error')
    expect(errors).toMatchObject([{ line: { delivery_id: '7', attempt: 1, err: { code } } }])
  },
)

test('an attempt that is refused without its answer too is given up, and the next are written', async () => {
  const { recorder, settled, recorded, lines } = recorderOver(async (attempts) => {
    if (idsOf(attempts).includes('a')) throw refusals['22P05']
    return all(attempts)
  })
  recorder.add(attempt('a'))
  recorder.add(attempt('b'))
  await recorder.settled()
  expect([settled, recorded]).toEqual([[['a'], ['b']], ['b']])
  expect(lines.map(({ level }) => level)).toEqual(['error', 'error'])
})

test('each attempt is settled once, also one that a write leaves out since another process has recorded it', async () => {
  const { recorder, settled, recorded, lines } = recorderOver(async (attempts) => all(attempts.slice(0, 1)))
  for (const id of ['a', 'of another process']) recorder.add(attempt(id))
  await recorder.settled()
  expect([settled, recorded, lines]).toEqual([[['a', 'of another process']], ['a'], []])
})
