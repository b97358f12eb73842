import { ALL_EVENTS } from '@backoffice/contracts/enabled-events.ts'
import type { Signing } from '../secrets/signature.ts'

/** The part of an endpoint that deliveries need. */
export interface Target {
  readonly workspaceId: string
  readonly id: string
  readonly url: URL
  /** Undefined while its secret does not open; its deliveries wait until it does (OP-107). */
  readonly signing: Signing | undefined
  readonly createdAt: Date
  /** Until when the deliveries waited, in Unix ms: Infinity while they do (see `isPaused`); absent or 0 if never. */
  readonly pausedUntil?: number
  /** The most requests that begin within any second, retries and pings among them (OP-257). */
  readonly requestsPerSecond?: number | undefined
}

/** Whether nothing may be sent: the endpoint is disabled, its workspace suspended or deleted, or its app suspended. */
export const isPaused = ({ pausedUntil }: Target): boolean => pausedUntil === Number.POSITIVE_INFINITY

/** A workspace's endpoints at one moment, by id and by subscribed event type. */
export class Targets {
  readonly #byId = new Map<string, Target>()
  readonly #byEvent = new Map<string, Target[]>()

  add(target: Target, enabledEvents: readonly string[]): void {
    this.#byId.set(target.id, target)
    for (const name of enabledEvents) {
      const subscribed = this.#byEvent.get(name)
      if (subscribed === undefined) this.#byEvent.set(name, [target])
      else subscribed.push(target)
    }
  }

  get(id: string): Target | undefined {
    return this.#byId.get(id)
  }

  /** The endpoints subscribed to a type of event, by its name or with `["*"]`. */
  subscribedTo(type: string): readonly Target[] {
    return [...(this.#byEvent.get(type) ?? []), ...(this.#byEvent.get(ALL_EVENTS) ?? [])]
  }
}
