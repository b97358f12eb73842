import type { Flown } from './paced-flow.ts'
import type { Arrival } from './receiver.ts'

/** How far the arrivals of a flow were out of order. */
export interface Order {
  /** Deliveries that arrived after one of a later event of the same product. */
  readonly overtaken: number
  /** The most places by which one was late. */
  readonly farthest: number
  /** Arrivals while another of the same product was in flight to the same endpoint. */
  readonly together: number
  /** The most in flight to one endpoint before it first answered. */
  readonly unknown: number
}

/** Compares the arrivals of each endpoint with the order in which the events were sent. */
export function orderOf({ events, arrivals, received }: Flown): Order {
  const places = new Map(events.map((id, index) => [id, index]))
  const late = grouped(received, productOf).flatMap((arrivals) => placesBack(arrivals, places))
  return {
    overtaken: late.length,
    farthest: Math.max(0, ...late),
    together: grouped(arrivals, productOf).reduce((sum, arrivals) => sum + startedBeforeEnd(arrivals), 0),
    unknown: Math.max(...grouped(arrivals, ({ path }) => path).map(inFlightAtFirstAnswer)),
  }
}

const grouped = (arrivals: readonly Arrival[], by: (arrival: Arrival) => string) => [
  ...Map.groupBy(arrivals, by).values(),
]

/** The endpoint and the product of an arrival. */
const productOf = ({ path, resource }: Arrival) => `${path} ${resource}`

/** For each event that came after a later one: how many of its product's later events were before it. */
function placesBack(arrivals: readonly Arrival[], places: ReadonlyMap<string, number>): number[] {
  const came = arrivals.map(({ eventId }) => places.get(eventId) ?? 0)
  return came.map((place, index) => came.slice(0, index).filter((other) => other > place).length).filter((n) => n > 0)
}

function startedBeforeEnd(arrivals: readonly Arrival[]): number {
  let end = 0
  let together = 0
  for (const { at, endedAt } of arrivals) {
    if (at < end) together++
    end = Math.max(end, endedAt)
  }
  return together
}

function inFlightAtFirstAnswer(arrivals: readonly Arrival[]): number {
  const first = Math.min(...arrivals.map(({ endedAt }) => endedAt))
  return arrivals.filter(({ at }) => at < first).length
}
