/** The greatest addition to a delay, as a part of it: calls that failed together are not repeated together. */
const JITTER = 0.1

/**
 * The delay before the next attempt of a call, in milliseconds: the delays of the schedule one after the other, then
 * always the last (OP-81, OP-84). `attempts` counts the failed ones; `random` lies in 0..1.
 */
export function delayAfter(attempts: number, schedule: readonly number[], random: number): number {
  const delay = schedule[Math.min(attempts, schedule.length) - 1] ?? 0
  return Math.round(delay * (1 + JITTER * random))
}
