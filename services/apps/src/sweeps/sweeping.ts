import type { Calling } from '../calls/calling.ts'

/** What the sweep works with. */
export interface Sweeping extends Pick<Calling, 'db' | 'worker' | 'platform' | 'logger'> {
  /** Wakes the worker that calls apps. */
  wake(): void
}
