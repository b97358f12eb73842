import type { Backlog } from './backlog.ts'
import type { Lanes } from './lanes.ts'

/** Whether a first attempt is made from memory; asked for one delivery after the other, in the order of their events. */
export type Places = (endpointId: string, bodyBytes: number) => boolean

/**
 * Gives out the places left in memory. An endpoint that was refused one gets none after it, nor does one whose first
 * attempts wait in the table: later events must not overtake them (OP-74).
 */
export function placesIn(lanes: Lanes, backlog: Backlog): Places {
  const taken = new Map<string, number>()
  const refused = new Set<string>()
  let places = 0
  let bytes = 0
  return (endpointId, bodyBytes) => {
    const own = taken.get(endpointId) ?? 0
    const isRoom = own < lanes.roomFor(endpointId, places) && bytes + bodyBytes <= lanes.roomInBytes
    if (!isRoom || refused.has(endpointId) || backlog.isBehind(endpointId)) {
      refused.add(endpointId)
      return false
    }
    taken.set(endpointId, own + 1)
    places++
    bytes += bodyBytes
    return true
  }
}
