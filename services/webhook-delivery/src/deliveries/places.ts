import type { Target } from '../endpoints/targets.ts'
import type { Backlog } from './backlog.ts'
import type { Lanes } from './lanes.ts'
import { CAPACITY, WAITING_SOON, WAITING_SOON_EACH, WORKSPACE_SHARE } from './limits.ts'
import { heldAtMost } from './pace.ts'
import { Room } from './room.ts'

/** A workspace with more than a quarter of the waiting jobs fills the memory by itself. */
const LARGE_PART = 4

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

/** Whether the fresh events of a workspace had better wait for a moment. */
export type Crowds = (workspaceId: string) => boolean

/**
 * A workspace is crowded when too many of its jobs wait in memory, slow endpoints aside: more than WORKSPACE_SHARE times what is
 * left of WAITING_SOON, or than WAITING_SOON_EACH for each endpoint. It is also crowded when most of these endpoints have first
 * attempts in the table: there each costs a third write, and later ones have to follow.
 */
export function crowdsIn(lanes: Lanes, backlog: Backlog): Crowds {
  const left = Math.max(0, WAITING_SOON - lanes.all.waitingSoon)
  const behindIn = new Map<string, { endpoints: number; behind: number }>()
  for (const { endpointId, workspaceId, pace } of lanes) {
    if (pace.standing === 'slow') continue
    const count = behindIn.get(workspaceId) ?? { endpoints: 0, behind: 0 }
    count.endpoints++
    if (backlog.isBehind(endpointId)) count.behind++
    behindIn.set(workspaceId, count)
  }
  return (workspaceId) => {
    const { endpoints, behind } = behindIn.get(workspaceId) ?? { endpoints: 0, behind: 0 }
    const most = Math.min(left * WORKSPACE_SHARE, endpoints * WAITING_SOON_EACH)
    if ((lanes.loadOf(workspaceId)?.waitingSoon ?? 0) > most) return true
    return behind > endpoints / 2
  }
}

/**
 * Whether the fresh events of all workspaces should wait: jobs for endpoints that are not slow fill a quarter of the memory, and
 * no workspace has a large part of them. Nobody waits for what one workspace fills.
 */
export function isCrowdedByMany(lanes: Lanes): boolean {
  const { waitingSoon } = lanes.all
  if (waitingSoon <= CAPACITY / 4) return false
  for (const { workspaceId } of lanes) {
    if ((lanes.loadOf(workspaceId)?.waitingSoon ?? 0) > waitingSoon / LARGE_PART) return false
  }
  return true
}

/** First attempts held for an endpoint. */
function firstsOf(lanes: Lanes, endpointId: string): number {
  const lane = lanes.get(endpointId)
  return lane === undefined ? 0 : lane.held - lane.laters
}
