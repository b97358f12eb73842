import { whenDone } from '@backoffice/testing/when-done.ts'
import { expect, test, vi } from 'vitest'
import type { KnownKey } from './find-keys.ts'
import { batchedLookUps } from './look-ups.ts'

const KEY: KnownKey = {
  caller: { workspaceId: 'w', livemode: true, keyId: 'k', scopes: ['*'], productStatuses: ['ACTIVE'] },
  consoleSession: null,
  operator: null,
  rateLimit: null,
  activatedAt: new Date(0),
  expiresInMs: null,
  revokedInMs: null,
  isSuspended: false,
  isDeleted: false,
  isAppSuspended: false,
}

/** Look-ups whose statements are answered, and whose time passes, when the test says so; `real` is a key's hash. */
function lookUps() {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'performance', 'Date'] })
  whenDone(() => void vi.useRealTimers())
  const statements: { readonly hashes: string[]; answer(): void; fail(): void }[] = []
  const lookUp = batchedLookUps((hashes) => {
    const found = Promise.withResolvers<ReadonlyMap<string, KnownKey>>()
    statements.push({
      hashes,
      answer: () => found.resolve(new Map(hashes.includes('real') ? [['real', KEY]] : [])),
      fail: () => found.reject(new Error('away')),
    })
    return found.promise
  })
  const invent = (count: number) => Promise.allSettled(Array.from({ length: count }, (_, index) => lookUp(`${index}`)))
  return { lookUp, invent, statements }
}

test('a single key is looked up at once', async () => {
  const { lookUp, statements } = lookUps()
  const real = lookUp('real')
  expect(statements.map(({ hashes }) => hashes)).toEqual([['real']])
  statements[0]?.answer()
  expect(await real).toBe(KEY)
})

test('of thousands of keys two statements run at once, each later one takes 500, and a real key comes in its turn', async () => {
  const { lookUp, invent, statements } = lookUps()
  const invented = invent(4_000)
  const real = lookUp('real')
  expect(statements.map(({ hashes }) => hashes.length)).toEqual([1, 1])
  for (let index = 0; index < 10; index++) {
    expect(statements.length).toBe(Math.min(index + 2, 10))
    statements[index]?.answer()
    await new Promise(setImmediate)
  }
  expect(await real).toBe(KEY)
  expect((await invented).every(({ status }) => status === 'fulfilled')).toBe(true)
  expect(statements.map(({ hashes }) => hashes.length)).toEqual([1, 1, ...Array(7).fill(500), 499])
})

test('a hash that waits already is not looked up twice', async () => {
  const { lookUp, invent, statements } = lookUps()
  const both = [invent(2), lookUp('real'), lookUp('real')]
  for (const { answer } of statements) answer()
  await new Promise(setImmediate)
  expect(statements[2]?.hashes).toEqual(['real'])
  statements[2]?.answer()
  expect((await Promise.all(both)).slice(1)).toEqual([KEY, KEY])
})

test('one hash more than may wait is service_unavailable, and the others are answered', async () => {
  const { lookUp, invent, statements } = lookUps()
  const invented = invent(5_002)
  await expect(lookUp('real')).rejects.toMatchObject({ code: 'service_unavailable', headers: { 'retry-after': '1' } })
  for (let index = 0; index < 12; index++) {
    statements[index]?.answer()
    await new Promise(setImmediate)
  }
  expect((await invented).every(({ status }) => status === 'fulfilled')).toBe(true)
})

test('a statement that fails concerns its keys only', async () => {
  const { lookUp, invent, statements } = lookUps()
  const invented = invent(1)
  statements[0]?.fail()
  expect(await invented).toMatchObject([{ status: 'rejected' }])
  const real = lookUp('real')
  statements[1]?.answer()
  expect(await real).toBe(KEY)
})

test('while no statement is answered, every look-up ends after 2 s, and what comes later is looked up again', async () => {
  const { lookUp, invent, statements } = lookUps()
  const invented = invent(1_000)
  const [real, same] = [lookUp('real'), lookUp('real')].map((look) =>
    look.catch((error: { code: string }) => error.code),
  )
  await vi.advanceTimersByTimeAsync(2_000)
  expect((await invented).every(({ status }) => status === 'rejected')).toBe(true)
  expect([await real, await same]).toEqual(['ETIMEDOUT', 'ETIMEDOUT'])
  const later = lookUp('real')
  for (const { answer } of statements) answer()
  await vi.advanceTimersByTimeAsync(0)
  for (const { answer } of statements) answer()
  expect(await later).toBe(KEY)
})
