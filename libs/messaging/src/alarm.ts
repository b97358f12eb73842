import { setTimeout as pause } from 'node:timers/promises'

/** Something to wait for with a time limit; a ring while nobody waits ends the next wait at once. */
export interface Alarm {
  ring(): void
  wait(ms: number): Promise<void>
}

export function alarm(): Alarm {
  let rung = new AbortController()
  return {
    ring: () => rung.abort(),
    async wait(ms) {
      await pause(ms, undefined, { signal: rung.signal }).catch(() => undefined)
      rung = new AbortController()
    },
  }
}
