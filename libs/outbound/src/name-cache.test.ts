import { expect, test } from 'vitest'
import { SendingError } from './failure.ts'
import { type Answer, NameCache } from './name-cache.ts'

const SECOND = 1000

/** A cache over `ask`, with a clock that tests move and the names that were asked for. */
function cacheOver(ask: (name: string) => Promise<Answer>) {
  const clock = { now: 0 }
  const asked: string[] = []
  const { find } = new NameCache(
    (name) => {
      asked.push(name)
      return ask(name)
    },
    () => clock.now,
  )
  return { find, asked, clock }
}

const answering = (ttl: number) => cacheOver(async () => ({ addresses: ['192.0.2.1'], ttl }))

test.each([
  [0, 1],
  [60, 60],
  [300, 300],
  [86_400, 300],
])('an answer with a TTL of %i s is kept for %i s (OP-99)', async (ttl, kept) => {
  const { find, asked, clock } = answering(ttl)
  await find('a.test')
  clock.now = kept * SECOND - 1
  expect(await find('a.test')).toEqual(['192.0.2.1'])
  expect(asked).toHaveLength(1)
  clock.now = kept * SECOND
  await find('a.test')
  expect(asked).toHaveLength(2)
})

test('that a name cannot be resolved is kept for 5 s, and then asked again (OP-99)', async () => {
  const { find, asked, clock } = cacheOver(async () => {
    throw new SendingError('dns', 'a.test has no address')
  })
  for (const at of [0, 1, 5 * SECOND - 1]) {
    clock.now = at
    await expect(find('a.test')).rejects.toThrow('a.test has no address')
  }
  expect(asked).toHaveLength(1)
  clock.now = 5 * SECOND
  await expect(find('a.test')).rejects.toThrow()
  expect(asked).toHaveLength(2)
})

test('who asks while a lookup is under way waits for the same one, however long it takes', async () => {
  const lookup = Promise.withResolvers<Answer>()
  const { find, asked, clock } = cacheOver(() => lookup.promise)
  const waiting = [find('a.test'), find('a.test')]
  clock.now = 3600 * SECOND
  waiting.push(find('a.test'))
  lookup.resolve({ addresses: ['192.0.2.1'], ttl: 60 })
  expect(await Promise.all(waiting)).toEqual(Array(3).fill(['192.0.2.1']))
  expect(asked).toHaveLength(1)
})

test('one name is one entry, in any case and with or without a dot at its end', async () => {
  const { find, asked } = answering(60)
  for (const name of ['a.test', 'A.Test', 'a.test.']) await find(name)
  expect(asked).toEqual(['a.test'])
})

test('the cache holds 10,000 names: one more, and the oldest is asked for again', async () => {
  const { find, asked } = answering(300)
  for (let index = 0; index < 10_001; index++) await find(`${index}.test`)
  asked.length = 0
  for (const index of [1, 10_000, 0]) await find(`${index}.test`)
  expect(asked).toEqual(['0.test'])
})
