import { pauseUnless } from './pause.ts'

/** Lets a loop wait for work with a time limit. A `wake` while nobody waits ends the next wait at once. */
export function wakeSignal() {
  let woken = new AbortController()
  return {
    wake: () => woken.abort(),
    async wait(ms: number) {
      await pauseUnless(woken.signal, ms)
      woken = new AbortController()
    },
  }
}
