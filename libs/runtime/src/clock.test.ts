import { whenDone } from '@backoffice/testing/when-done.ts'
import { expect, test } from 'vitest'
import { currentTime, newId, setTimeBy } from './clock.ts'

/** The time of the process until the test ends; the function that is returned sets another. */
function timeIs(time: string) {
  let now = time
  setTimeBy(() => Date.parse(now))
  whenDone(() => setTimeBy(Date.now))
  return (other: string) => {
    now = other
  }
}

const timeOf = (id: string) => new Date(Number.parseInt(id.replaceAll('-', '').slice(0, 12), 16)).toISOString()

test('time and ids go by the clock that is set', () => {
  timeIs('2040-01-01T00:00:00.000Z')
  expect(currentTime().toISOString()).toBe('2040-01-01T00:00:00.000Z')
  expect(timeOf(newId())).toBe('2040-01-01T00:00:00.000Z')
  expect(timeOf(newId(new Date('2030-01-01T00:00:00.000Z')))).toBe('2030-01-01T00:00:00.000Z')
})

test('ids of one moment, and of a clock that goes back a little, are in the order in which they were made', () => {
  const changeTo = timeIs('2050-01-01T00:00:00.000Z')
  const ids = Array.from({ length: 1000 }, () => newId())
  changeTo('2049-12-31T23:59:50.000Z')
  ids.push(newId())
  expect(ids.toSorted()).toEqual(ids)
  expect(new Set(ids).size).toBe(1001)
  changeTo('2049-01-01T00:00:00.000Z')
  expect(timeOf(newId()), 'a clock that was wrong and is mended').toBe('2049-01-01T00:00:00.000Z')
})
