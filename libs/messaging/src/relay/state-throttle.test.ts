import { describe, expect, it } from 'vitest'
import { silent } from '../kafka/testing/kafka.ts'
import { type StateBacklog, stateThrottle } from './state-throttle.ts'

const STATES = 'catalog.products'

/** A throttle with a clock and a backlog that the test sets. */
function aThrottle() {
  let time = 0
  let backlog: StateBacklog | Error | Promise<StateBacklog> = { lag: 0, processed: 0 }
  let measured = 0
  const measure = async () => {
    measured++
    if (backlog instanceof Error) throw backlog
    return backlog
  }
  const throttle = stateThrottle(measure, silent, () => time)
  return {
    ...throttle,
    publish: (workspace: string, count: number, topic = STATES) =>
      throttle.count(Array.from({ length: count }, () => ({ workspace_id: workspace, topic }))),
    after(ms: number, seen: StateBacklog | Error | Promise<StateBacklog> = backlog) {
      time += ms
      backlog = seen
      return throttle.paused()
    },
    measured: () => measured,
  }
}

describe('A workspace with many states waits while consumers are behind', () => {
  it('until they have caught up; workspaces with few go on', async () => {
    const { publish, after, pausedForMs } = aThrottle()
    publish('other', 10)
    publish('importing', 500)
    expect(await after(0, { lag: 5000, processed: 1 })).toEqual(['importing'])
    expect(pausedForMs()).toBe(200)
    expect(await after(200, { lag: 3000, processed: 2001 })).toEqual(['importing'])
    expect(await after(200, { lag: 1900, processed: 4101 })).toEqual([])
    expect(pausedForMs()).toBe(Number.POSITIVE_INFINITY)
  })

  it('counting what it has published since they were measured', async () => {
    const { publish, after } = aThrottle()
    publish('other', 1)
    publish('importing', 500)
    expect(await after(200, { lag: 1600, processed: 1 })).toEqual([])
    publish('importing', 500)
    expect(await after(10)).toEqual(['importing'])
  })

  it('as they were when they were last measured, while Kafka does not answer', async () => {
    const { publish, after } = aThrottle()
    publish('other', 1)
    publish('importing', 500)
    expect(await after(200, { lag: 5000, processed: 1 })).toEqual(['importing'])
    expect(await after(200, new Promise(() => undefined))).toEqual(['importing'])
    expect(await after(200)).toEqual(['importing'])
  })

  it('and is throttled no longer once it has few', async () => {
    const { publish, after, measured } = aThrottle()
    publish('other', 1)
    publish('importing', 500)
    await after(200)
    await after(200)
    const before = measured()
    publish('importing', 10)
    expect(await after(200, { lag: 5000, processed: 1 })).toEqual([])
    expect(measured()).toBe(before)
  })
})

describe('No workspace waits', () => {
  it('while it is the only one that publishes; nothing is measured then', async () => {
    const { publish, after, measured } = aThrottle()
    publish('importing', 500)
    expect(await after(10, { lag: 100_000, processed: 1 })).toEqual([])
    expect(measured()).toBe(0)
  })

  it('for others that have published nothing for a minute', async () => {
    const { publish, after } = aThrottle()
    publish('other', 10)
    publish('importing', 500)
    expect(await after(10, { lag: 100_000, processed: 1 })).toEqual(['importing'])
    await after(55_000, { lag: 100_000, processed: 2 })
    publish('importing', 500)
    expect(await after(6000, { lag: 100_000, processed: 3 })).toEqual([])
  })

  it('for consumers that have processed nothing for half a minute', async () => {
    const { publish, after } = aThrottle()
    publish('other', 10)
    publish('importing', 500)
    expect(await after(10, { lag: 100_000, processed: 1 })).toEqual(['importing'])
    expect(await after(29_000)).toEqual(['importing'])
    expect(await after(2000)).toEqual([])
    publish('importing', 500)
    expect(await after(2000, { lag: 100_000, processed: 2 })).toEqual(['importing'])
  })

  it('while the consumers cannot be measured', async () => {
    const { publish, after } = aThrottle()
    publish('other', 10)
    publish('importing', 500)
    expect(await after(10, new Error('Kafka is away'))).toEqual([])
  })

  it('for records that are no states', async () => {
    const { publish, after } = aThrottle()
    publish('other', 1)
    publish('importing', 5000, 'catalog.events')
    expect(await after(10, { lag: 100_000, processed: 1 })).toEqual([])
  })
})
