import type { Backlog } from './backlog.ts'
import type { Wanted } from './claims.ts'
import type { Lanes } from './lanes.ts'
import { claimedAtMost } from './pace.ts'
import { Room } from './room.ts'

/** Claims leave half of the memory to first attempts of fresh events. */
const PART = 1 / 2
/** What one statement claims at most, about: it is not to keep others waiting. */
const AT_ONCE = { endpoints: 200, deliveries: 1024, bytes: 8 * 1024 * 1024 } as const
/** The least share of an endpoint in a claim, however many endpoints have due deliveries. */
const FEW = 4
/** The part of first attempts in a claim for an endpoint whose first attempts wait in the table. */
const FIRSTS = 3 / 4

/**
 * Chooses the due endpoints to claim for, in their turns, and the number of deliveries for each. Parks endpoints that have enough
 * jobs or no room.
 */
export function wantedFrom(backlog: Backlog, lanes: Lanes, now: Date): Wanted[] {
  const due = backlog.due(now)
  const room = new Room(lanes, PART)
  const fairShare = Math.max(FEW, Math.floor(Math.min(room.jobs, AT_ONCE.deliveries) / due.length))
  const wanted: Wanted[] = []
  for (const endpointId of due) {
    if (wanted.length === AT_ONCE.endpoints || room.taken >= AT_ONCE.deliveries || room.isFull) break
    const places = Math.min(fairShare, placesFor(endpointId, lanes, room))
    if (places <= 0) {
      backlog.park(endpointId)
      continue
    }
    backlog.hadTurn(endpointId)
    room.take(endpointId, lanes.workspaceOf(endpointId), { jobs: places, bytes: 0 })
    const firsts = backlog.isBehind(endpointId) ? Math.ceil(places * FIRSTS) : 0
    wanted.push({ endpointId, firsts, laters: places - firsts })
  }
  return wanted
}

/** How many bytes of bodies to claim. */
export const roomInBytes = (lanes: Lanes): number => Math.min(AT_ONCE.bytes, new Room(lanes, PART).bytes)

/** How many deliveries to claim for an endpoint: none while it has more than half of its jobs. */
function placesFor(endpointId: string, lanes: Lanes, room: Room): number {
  const held = lanes.get(endpointId)?.held ?? 0
  const atMost = claimedAtMost(lanes.paceOf(endpointId))
  return held > atMost / 2 ? 0 : Math.min(atMost - held, room.leftFor(endpointId, lanes.workspaceOf(endpointId)))
}
