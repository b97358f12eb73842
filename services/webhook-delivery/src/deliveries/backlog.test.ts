import { expect, test } from 'vitest'
import { Backlog } from './backlog.ts'

const at = (second: number) => new Date(second * 1000)

test('an endpoint is due when the first of its deliveries is', () => {
  const backlog = new Backlog()
  backlog.note('a', at(20))
  backlog.note('a', at(10))
  backlog.note('b', at(30))
  expect(backlog.due(at(9))).toEqual([])
  expect(backlog.nextDueAfter(at(9))).toEqual(at(10))
  expect(backlog.due(at(10))).toEqual(['a'])
  expect(backlog.nextDueAfter(at(10))).toEqual(at(30))
  expect(backlog.nextDueAfter(at(30))).toBeUndefined()
})

test('an endpoint is forgotten once all that was due is claimed', () => {
  const backlog = new Backlog()
  backlog.note('a', at(10), true)
  backlog.clear('a', backlog.notes)
  expect([backlog.has('a'), backlog.isBehind('a')]).toEqual([false, false])
})

test('what is noted while the table is asked is not forgotten with the answer', () => {
  const backlog = new Backlog()
  backlog.note('a', at(10))
  const before = backlog.notes
  backlog.note('a', at(10), true)
  backlog.clear('a', before)
  expect([backlog.has('a'), backlog.isBehind('a')]).toEqual([true, true])
})
