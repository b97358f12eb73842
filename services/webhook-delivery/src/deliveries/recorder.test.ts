import { openDatabase } from '@backoffice/postgres/database.ts'
import { backingServices } from '@backoffice/testing/backing-services.ts'
import { afterAll, expect, test } from 'vitest'
import type { Attempt } from './attempt.ts'
import { Recorder, type WriteAttempts } from './recorder.ts'

const attempt = (deliveryId: string) =>
  ({
    job: { deliveryId, target: { workspaceId: 'workspace', id: 'endpoint' }, attemptsMade: 0 },
    status: 'PENDING',
    exchange: {
      durationMs: 1,
      response: { status: 500, headers: { server: 'x' }, body: Buffer.from('answer'), isTruncated: false },
      failure: { class: 'status', message: 'answered 500' },
    },
  }) as unknown as Attempt
const idsOf = (attempts: readonly Attempt[]) => attempts.map(({ job }) => job.deliveryId)

function recorderOver(write: WriteAttempts = async (attempts) => new Set(idsOf(attempts))) {
  const written: string[][] = []
  const recorded: string[] = []
  const lines: { level: string; line: Record<string, unknown> }[] = []
  const log = (level: string) => (line: unknown) => void lines.push({ level, line: line as Record<string, unknown> })
  const recorder = new Recorder({
    write,
    onWritten: (attempts, ids) => {
      written.push(idsOf(attempts))
      recorded.push(...ids)
    },
    logger: { warn: log('warn'), error: log('error') },
  })
  return { recorder, written, recorded, lines }
}

const { sql, stop } = openDatabase({ url: backingServices().postgresUrl, applicationName: 'test' })
afterAll(() => stop?.())

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

test('attempts that end together are written together', async () => {
  const { recorder, written } = recorderOver()
  for (const id of ['a', 'b', 'c']) recorder.add(attempt(id))
  await recorder.settled()
  expect(written).toEqual([['a', 'b', 'c']])
})

test('what ends during a write goes with the next', async () => {
  const { recorder, written } = recorderOver(async (attempts) => {
    if (attempts[0]?.job.deliveryId === 'a') recorder.add(attempt('b'))
    return new Set()
  })
  recorder.add(attempt('a'))
  await recorder.settled()
  expect(written).toEqual([['a'], ['b']])
})

test('what ends just as the last write is over is written as well', async () => {
  const written: string[] = []
  const recorder = new Recorder({
    write: async () => new Set(),
    onWritten: (attempts) => {
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

test('a write is repeated while PostgreSQL is away, and the log says so', async () => {
  let failures = 1
  const { recorder, written, lines } = recorderOver(async () => {
    if (failures-- > 0) throw Object.assign(new Error('away'), { code: 'ECONNREFUSED' })
    return new Set()
  })
  recorder.add(attempt('a'))
  await recorder.settled()
  expect(written).toEqual([['a']])
  expect(lines).toMatchObject([{ level: 'warn', line: { attempts: 1, failures: 1, err: { message: 'away' } } }])
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
      return new Set(idsOf(attempts))
    })
    for (const id of ids) recorder.add(attempt(id))
    await recorder.settled()
    expect(recorded.toSorted()).toEqual(ids.toSorted())
    expect(bare).toMatchObject([
      { status: 'PENDING', exchange: { response: { status: 500, headers: {} }, failure: { class: 'status' } } },
    ])
    expect(lines).toMatchObject([{ level: 'error', line: { delivery_id: '7', attempt: 1, err: { code } } }])
  },
)

test('an attempt that is refused without its answer too is given up, and the next are written', async () => {
  const { recorder, written, recorded, lines } = recorderOver(async (attempts) => {
    if (idsOf(attempts).includes('a')) throw refusals['22P05']
    return new Set(idsOf(attempts))
  })
  recorder.add(attempt('a'))
  recorder.add(attempt('b'))
  await recorder.settled()
  expect(written).toEqual([['a'], ['b']])
  expect(recorded).toEqual(['b'])
  expect(lines.map(({ level }) => level)).toEqual(['error', 'error'])
})
