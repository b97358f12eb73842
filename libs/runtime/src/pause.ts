import { setTimeout } from 'node:timers/promises'

/** Waits for `ms` milliseconds, or until the signal is aborted if that comes first; resolves either way. */
export async function pauseUnless(signal: AbortSignal, ms: number): Promise<void> {
  await setTimeout(ms, undefined, { signal }).catch(() => undefined)
}
