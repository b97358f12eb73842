import { expect, it } from 'vitest'
import { EVENT_CATALOGUE, EVENT_TOPICS, EVENT_TYPES, RECORDS } from './events.ts'
import { exampleOf } from './named.ts'

it('has every event name', () => {
  expect(EVENT_TYPES.filter((name) => !EVENT_CATALOGUE.has(name))).toEqual([])
})

it('has no event that two topics carry, and none that cannot be subscribed to', () => {
  const published = EVENT_TOPICS.flatMap((topic) => Object.keys(RECORDS[topic]))
  const carried = [...EVENT_CATALOGUE].filter(([, { topic }]) => topic !== undefined)
  expect(carried.map(([name]) => name)).toEqual(published)
  expect(EVENT_TYPES).toEqual(expect.arrayContaining(published))
})

it('has an example of the data of each event', () => {
  for (const [type, { record }] of EVENT_CATALOGUE) {
    const { data } = record.shape
    expect([type, data.safeParse(exampleOf(data)).error?.issues]).toEqual([type, undefined])
  }
})
