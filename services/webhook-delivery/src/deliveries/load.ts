import type { Lane } from './lane.ts'

/** What lanes have in hand together: those of one workspace, or all. */
export class Load {
  lanes = 0
  held = 0
  bytes = 0
  /** Of those held, for endpoints that are slow. */
  heldSlow = 0
  /** Attempts in flight beyond the few of each endpoint. */
  extra = 0
  /** All others in flight, or not yet recorded. */
  busy = 0
  /** In flight to endpoints that are slow, and to those that nothing is known of. */
  slow = 0
  unknown = 0
  /** Retries and resends to all others, in flight or not yet recorded. */
  laters = 0

  /** Jobs that wait to be started for endpoints that are not slow, about. */
  get waitingSoon(): number {
    return this.held - this.heldSlow - (this.busy + this.extra - this.slow)
  }

  /** Adds what a lane has in hand, or takes it away, as before and after each of its changes. */
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
