import type { Target } from '../endpoints/targets.ts'
import type { Backlog } from './backlog.ts'
import type { Lanes } from './lanes.ts'
import { CAPACITY } from './limits.ts'
import { heldAtMost } from './pace.ts'
import { Room } from './room.ts'

/** Whether a first attempt is made from memory; asked for one delivery after the other, in the order of their events. */
export type Places = (target: Pick<Target, 'id' | 'workspaceId'>, bodyBytes: number) => boolean

/**
 * Gives out the places left in memory. An endpoint that was refused one gets none after it, nor does one whose first
 * attempts wait in the table: later events must not overtake them (OP-74).
 */
export function placesIn(lanes: Lanes, backlog: Backlog): Places {
  const room = new Room(lanes)
  const refused = new Set<string>()
  return ({ id, workspaceId }, bytes) => {
    const isRoom =
      room.leftFor(id, workspaceId) > 0 &&
      bytes <= room.bytes &&
      firstsOf(lanes, id) + room.takenFor(id) < heldAtMost(lanes.paceOf(id))
    if (!isRoom || refused.has(id) || backlog.isBehind(id)) {
      refused.add(id)
      return false
    }
    room.take(id, workspaceId, { jobs: 1, bytes })
    return true
  }
}

/**
 * Whether fresh events had better wait for a moment: enough waits in memory for endpoints that are not slow, or most of these
 * have first attempts in the table, where each takes a third write and sends those after it the same way.
 */
export function isCrowded(lanes: Lanes, backlog: Backlog): boolean {
  if (lanes.all.waitingSoon > CAPACITY / 4) return true
  let [soon, behind] = [0, 0]
  for (const { endpointId, pace } of lanes) {
    if (pace.standing === 'slow') continue
    soon++
    if (backlog.isBehind(endpointId)) behind++
  }
  return behind > soon / 2
}

/** First attempts held for an endpoint. */
function firstsOf(lanes: Lanes, endpointId: string): number {
  const lane = lanes.get(endpointId)
  return lane === undefined ? 0 : lane.held - lane.laters
}
