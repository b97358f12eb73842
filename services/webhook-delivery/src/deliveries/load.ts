import type { Lane } from './lane.ts'

/** The sums over the lanes of a workspace, or over all lanes. */
export class Load {
  lanes = 0
  held = 0
  bytes = 0
  /** The held jobs for slow endpoints. */
  heldSlow = 0
  /** Attempts in flight beyond the few of each endpoint. */
  extra = 0
  /** All others in flight, or not yet recorded. */
  busy = 0
  /** Attempts in flight to slow and to unknown endpoints, without the extra ones. */
  slow = 0
  unknown = 0
  /** Retries and resends in flight or not yet recorded, without those to slow endpoints. */
  laters = 0

  /** About how many jobs for endpoints that are not slow wait to be started. */
  get waitingSoon(): number {
    return this.held - this.heldSlow - (this.busy + this.extra - this.slow)
  }

  /** Adds the numbers of a lane, or subtracts them: subtract before each change of the lane, and add after it. */
  count(lane: Lane, sign: 1 | -1): void {
    const { standing } = lane.pace
    this.held += sign * lane.held
    this.bytes += sign * lane.bytes
    this.extra += sign * lane.extra
    this.busy += sign * (lane.busy - lane.extra)
    if (standing === 'slow') {
      this.heldSlow += sign * lane.held
      this.slow += sign * (lane.inFlight - lane.extra)
      return
    }
    if (standing === 'unknown') this.unknown += sign * (lane.inFlight - lane.extra)
    this.laters += sign * lane.latersBusy
  }
}
