import { expect, test } from 'vitest'
import type { Backlog } from './backlog.ts'
import type { Wanted } from './claims.ts'
import { Lanes } from './lanes.ts'
import { CAPACITY } from './limits.ts'
import { aJob, many } from './testing/a-job.ts'
import { readBacklog } from './testing/read-backlog.ts'
import { wantedFrom } from './wanted.ts'

const NOW = new Date(1000)

function backlogOf(endpointIds: readonly string[]): Backlog {
  const backlog = readBacklog()
  for (const endpointId of endpointIds) backlog.note(endpointId, NOW)
  return backlog
}

/** Lanes that know endpoints to answer quickly. */
function lanesKnowing(endpointIds: readonly string[], workspaceOf: (index: number) => string = () => 'one'): Lanes {
  const lanes = new Lanes()
  for (const [index, endpointId] of endpointIds.entries()) {
    const job = aJob(endpointId, {}, workspaceOf(index))
    lanes.add(job, 0)
    lanes.start(0)
    lanes.end(job, 0, { durationMs: 10, isDelivered: true })
    lanes.forget(job)
  }
  return lanes
}

const placesOf = ({ firsts, laters }: Wanted) => firsts + laters
const allPlaces = (wanted: readonly Wanted[]) => wanted.reduce((sum, each) => sum + placesOf(each), 0)

test('as many are claimed for an endpoint as keep it busy, for one that is slow or not known a few', () => {
  const lanes = lanesKnowing(['quick'])
  lanes.suspect('slow')
  expect(wantedFrom(backlogOf(['quick', 'slow', 'new']), lanes, NOW)).toEqual([
    { endpointId: 'quick', firsts: 0, laters: 64 },
    { endpointId: 'slow', firsts: 0, laters: 4 },
    { endpointId: 'new', firsts: 0, laters: 6 },
  ])
})

test('most are first attempts where these wait, and some of what is claimed is not, whatever waits', () => {
  const [lanes, backlog] = [lanesKnowing(['a']), readBacklog()]
  backlog.note('a', NOW, true)
  expect(wantedFrom(backlog, lanes, NOW)).toEqual([{ endpointId: 'a', firsts: 48, laters: 16 }])
})

test('when many endpoints have some due each gets a few, in their turns', () => {
  const endpoints = many(1000, (index) => `endpoint ${index}`)
  const [lanes, backlog] = [lanesKnowing(endpoints), backlogOf(endpoints)]
  const first = wantedFrom(backlog, lanes, NOW)
  const second = wantedFrom(backlog, lanes, NOW)
  expect(first.length).toBeGreaterThan(50)
  expect(allPlaces(first)).toBeLessThan(1100)
  expect(new Set([...first, ...second].map(({ endpointId }) => endpointId)).size).toBe(first.length + second.length)
})

test('nothing is claimed for an endpoint that has enough in hand, until it is unparked', () => {
  const [lanes, backlog] = [lanesKnowing(['a']), backlogOf(['a'])]
  for (const job of many(40, () => aJob('a', { attemptsMade: 1 }))) lanes.add(job, 0)
  expect(wantedFrom(backlog, lanes, NOW)).toEqual([])
  lanes.withdraw((lane) => lane.trim(10))
  expect(wantedFrom(backlog, lanes, NOW)).toEqual([])
  backlog.unpark('a')
  expect(wantedFrom(backlog, lanes, NOW)).toEqual([{ endpointId: 'a', firsts: 0, laters: 54 }])
})

test('claims leave half of the memory to fresh events, and one workspace’s some to another’s', () => {
  const endpoints = many(500, (index) => `endpoint ${index}`)
  const lanes = lanesKnowing([...endpoints, 'another'], (index) => (index < endpoints.length ? 'one' : 'other'))
  for (let round = 0; round < 50; round++) {
    for (const each of wantedFrom(backlogOf(endpoints), lanes, NOW)) {
      const { endpointId } = each
      for (const job of many(placesOf(each), () => aJob(endpointId, { attemptsMade: 1 }, 'one'))) lanes.add(job, 0)
    }
  }
  expect(lanes.all.held).toBeGreaterThan(CAPACITY / 4)
  expect(lanes.all.held).toBeLessThan(CAPACITY / 2)
  expect(wantedFrom(backlogOf(['another']), lanes, NOW)).toHaveLength(1)
})
