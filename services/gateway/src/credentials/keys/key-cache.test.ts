import { randomUUID } from 'node:crypto'
import { expect, test } from 'vitest'
import type { KnownKey } from './find-keys.ts'
import { keyCache } from './key-cache.ts'

const aKey = (workspaceId: string): KnownKey => ({
  caller: { workspaceId, livemode: true, keyId: randomUUID(), scopes: ['*'], productStatuses: ['ACTIVE'] },
  consoleSession: null,
  operator: null,
  rateLimit: null,
  activatedAt: new Date(0),
  expiresInMs: null,
  revokedInMs: null,
  isSuspended: false,
  isDeleted: false,
  isAppSuspended: false,
})

/** A cache whose `get` looks up what it does not have. */
function cacheOver(find: (hash: string) => Promise<KnownKey | undefined>) {
  const cache = keyCache()
  const get = (hash: string, now: number) => {
    const kept = cache.get(hash, now)
    return kept === undefined ? cache.lookUp(hash, now, find).then((found) => found?.key) : kept?.key
  }
  return { ...cache, get }
}

/** A cache over look-ups that are answered when the test says so. */
function cacheOf(answers: Record<string, KnownKey | undefined>) {
  const waiting: (() => void)[] = []
  let lookUps = 0
  const cache = cacheOver(async (hash) => {
    lookUps++
    const answer = answers[hash]
    await new Promise<void>((resolve) => waiting.push(resolve))
    return answer && structuredClone(answer)
  })
  const answerAll = () => {
    for (const answer of waiting.splice(0)) answer()
  }
  return { cache, answers, lookUps: () => lookUps, answerAll }
}

async function found(given: ReturnType<typeof cacheOf>, hash: string, now: number) {
  const key = given.cache.get(hash, now)
  given.answerAll()
  return await key
}

test('whoever needs the same key at once shares one look-up', async () => {
  const given = cacheOf({ a: aKey('w') })
  const both = Promise.all([given.cache.get('a', 0), given.cache.get('a', 0)])
  given.answerAll()
  expect(await both).toEqual([given.answers.a, given.answers.a])
  expect(given.lookUps()).toBe(1)
})

test('a look-up that began before a change was announced is answered but neither kept nor shared', async () => {
  const given = cacheOf({ a: aKey('w') })
  const before = given.cache.get('a', 0)
  given.cache.dropWorkspace('w')
  const during = given.cache.get('a', 0)
  expect(given.lookUps()).toBe(2)
  given.cache.dropWorkspace('w')
  given.answerAll()
  expect([await before, await during]).toEqual([given.answers.a, given.answers.a])
  await found(given, 'a', 0)
  expect(given.lookUps()).toBe(3)
})

test('what was looked up before the clock was set back is looked up again', async () => {
  const HOUR = 3_600_000
  const given = cacheOf({ known: aKey('w') })
  await found(given, 'known', HOUR)
  await found(given, 'unknown', HOUR)
  await found(given, 'known', 0)
  await found(given, 'unknown', 0)
  expect(given.lookUps()).toBe(4)
})

test('only the keys of the workspace that changed are forgotten', async () => {
  const given = cacheOf({ a: aKey('one'), b: aKey('other') })
  await found(given, 'a', 0)
  await found(given, 'b', 0)
  given.cache.dropWorkspace('one')
  await found(given, 'a', 1)
  await found(given, 'b', 1)
  expect(given.lookUps()).toBe(3)
})

test('a look-up that failed is not remembered', async () => {
  let fails = true
  const cache = cacheOver(async () => {
    if (fails) throw new Error('away')
    return aKey('w')
  })
  await expect(cache.get('a', 0)).rejects.toThrow('away')
  fails = false
  expect(await cache.get('a', 0)).toBeDefined()
})

test('ten thousand unknown keys push no known one out', async () => {
  const key = aKey('w')
  let lookUps = 0
  const cache = cacheOver(async (hash) => {
    lookUps++
    return hash === 'known' ? key : undefined
  })
  await cache.get('known', 0)
  for (let count = 0; count < 20_000; count++) await cache.get(`unknown ${count}`, 0)
  expect(await cache.get('known', 0)).toBe(key)
  expect(lookUps).toBe(20_001)
})

test('a key counts as found until a look-up does not find it, also after a change was announced', async () => {
  const given = cacheOf({ a: aKey('w') })
  expect(given.cache.hasFound('a')).toBe(false)
  await found(given, 'a', 0)
  given.cache.dropWorkspace('w')
  given.cache.clear()
  expect(given.cache.hasFound('a')).toBe(true)
  given.answers.a = undefined
  await found(given, 'a', 0)
  expect(given.cache.hasFound('a')).toBe(false)
})
