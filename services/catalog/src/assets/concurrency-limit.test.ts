import { expect, it } from 'vitest'
import { concurrencyLimit } from './concurrency-limit.ts'

/** Work that the test itself ends, with a flag that it has begun. */
function work() {
  const { promise, resolve, reject } = Promise.withResolvers<string>()
  const one = {
    begun: false,
    resolve,
    reject,
    run: () => {
      one.begun = true
      return promise
    },
  }
  return one
}

const late = () => new Error('late')

it('lets so many run at a time, the others in the order they came', async () => {
  const limited = concurrencyLimit(2, 60_000, late)
  const works = [work(), work(), work(), work()]
  const ended = works.map(({ run }) => limited(run))
  const begun = () => works.map((one) => one.begun)
  await Promise.resolve()
  expect(begun()).toEqual([true, true, false, false])
  works[1]?.resolve('b')
  await ended[1]
  await expect.poll(begun).toEqual([true, true, true, false])
  works[0]?.reject(new Error('a'))
  await expect(ended[0]).rejects.toThrow('a')
  await expect.poll(begun).toEqual([true, true, true, true])
  works[2]?.resolve('c')
  works[3]?.resolve('d')
  expect(await Promise.all(ended.slice(1))).toEqual(['b', 'c', 'd'])
})

it('never runs what has waited too long, and gives its turn to nobody', async () => {
  const limited = concurrencyLimit(1, 20, late)
  const [first, second, third] = [work(), work(), work()]
  const running = limited(first.run)
  await expect(limited(second.run)).rejects.toThrow('late')
  first.resolve('a')
  expect(await running).toBe('a')
  const next = limited(third.run)
  third.resolve('c')
  expect([await next, second.begun]).toEqual(['c', false])
})
