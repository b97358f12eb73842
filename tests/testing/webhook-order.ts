import { notedWithinMs } from './noted-within.ts'
import type { Published } from './platform-load.ts'
import type { EndpointReceiver, ReceivedAttempt } from './webhook-receivers.ts'

/** A time in which something was done to a process or a server, as `performance.now()`. A kill takes no time. */
export interface Disturbance {
  readonly from: number
  readonly until: number
}

/** Attempts in flight to an endpoint that nothing is known of, and to any endpoint at most (OP-105). */
const [UNKNOWN, MOST] = [2, 128]

/** What receivers saw of events, in numbers of events, of all receivers together. */
export interface Sightings {
  readonly lost: number
  /** First arrivals after that of a later event of the same object (OP-74). */
  readonly overtaken: number
  /** Arrivals while another event of the same object was in flight. */
  readonly together: number
  /** Arrivals beyond what an endpoint may have in flight: two, and one more for each answer (OP-105). */
  readonly beyondLimit: number
  /** Further arrivals of what was in flight when something was disturbed, and of anything else. */
  readonly again: number
  readonly unduly: number
}

/** Compares what arrived, which all receivers answered with 200, with what was published. */
export function sightingsOf(
  receivers: readonly EndpointReceiver[],
  published: Published,
  disturbances: readonly Disturbance[] = [],
): Sightings {
  const all = receivers.map(({ arrivals, requests }) => ({
    lost: published.events.filter((id) => !arrivals.has(id)).length,
    overtaken: overtaken(arrivals, published).length,
    together: together(requests, published),
    beyondLimit: beyondLimit(requests),
    ...again(arrivals, disturbances),
  }))
  const total = (name: keyof Sightings) => all.reduce((sum, one) => sum + one[name], 0)
  return {
    lost: total('lost'),
    overtaken: total('overtaken'),
    together: total('together'),
    beyondLimit: total('beyondLimit'),
    again: total('again'),
    unduly: total('unduly'),
  }
}

/** The most attempts that a receiver had at the same time. */
export const mostInFlight = ({ requests }: EndpointReceiver): number =>
  Math.max(0, ...requests.map((request) => inFlightAt(requests, request)))

/** The events that arrived first after a later event of the same object. */
export function overtaken(arrivals: EndpointReceiver['arrivals'], { events, objects }: Published): string[] {
  const earliestLater = new Map<string, number>()
  return events.toReversed().filter((id) => {
    const object = objects.get(id) ?? ''
    const [first = Number.POSITIVE_INFINITY] = arrivals.get(id) ?? []
    const later = earliestLater.get(object) ?? Number.POSITIVE_INFINITY
    earliestLater.set(object, Math.min(first, later))
    return first > later
  })
}

function together(requests: readonly ReceivedAttempt[], { objects }: Published): number {
  const openUntil = new Map<string, number>()
  let count = 0
  for (const { eventId, at, until } of requests) {
    const object = objects.get(eventId) ?? ''
    const open = openUntil.get(object) ?? 0
    if (at < open) count++
    openUntil.set(object, Math.max(open, until))
  }
  return count
}

function beyondLimit(requests: readonly ReceivedAttempt[]): number {
  const ends = requests.map(({ until }) => until).sort((a, b) => a - b)
  let [count, answered] = [0, 0]
  for (const [before, { at }] of requests.entries()) {
    while ((ends[answered] ?? Number.POSITIVE_INFINITY) <= at) answered++
    if (before + 1 - answered > Math.min(MOST, UNKNOWN + answered)) count++
  }
  return count
}

const inFlightAt = (requests: readonly ReceivedAttempt[], { at }: ReceivedAttempt): number =>
  requests.filter((other) => other.at <= at && at < other.until).length

/**
 * An event may arrive again when it had arrived just before or after a disturbance began, or arrives just after its
 * end.
 */
function again(arrivals: EndpointReceiver['arrivals'], disturbances: readonly Disturbance[]) {
  const notedWithin = notedWithinMs()
  let [again, unduly] = [0, 0]
  for (const times of arrivals.values()) {
    for (const [index, time] of times.slice(1).entries()) {
      const before = times[index] ?? 0
      const explains = ({ from, until }: Disturbance) =>
        time > from && (Math.abs(before - from) < notedWithin || Math.abs(time - until) < notedWithin)
      if (disturbances.some(explains)) again++
      else unduly++
    }
  }
  return { again, unduly }
}
