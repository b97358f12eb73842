import { expect, it } from 'vitest'
import { whenDone } from './when-done.ts'

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
