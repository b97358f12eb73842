import { expect, it } from 'vitest'
import { keptByWorker, whenDone } from './when-done.ts'

const stopped: string[] = []
whenDone(() => expect(stopped).toEqual(['first', 'second']))

it('stops what a test started when that test is over', () => {
  whenDone(() => stopped.push('first'))
  expect(stopped).toEqual([])
})

it('stops what another test started with that one', () => {
  expect(stopped).toEqual(['first'])
  whenDone(() => stopped.push('second'))
})

it('leaves what was started outside of tests until the end', () => {
  expect(stopped).toEqual(['first', 'second'])
})

it('starts what a worker keeps once, and does not stop it', async () => {
  const kept = keptByWorker(async () => {
    await Promise.resolve()
    whenDone(() => expect.unreachable())
    return {}
  })
  expect(await kept()).toBe(await kept())
})
