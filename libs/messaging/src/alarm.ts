import { pauseUnless } from '@backoffice/runtime/pause.ts'

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
      await pauseUnless(rung.signal, ms)
      rung = new AbortController()
    },
  }
}
