/** What an attempt may come later than its delay, as a part of it: what failed together is not repeated together. */
const MAX_JITTER = 0.1

/**
 * The delay before the next attempt after `attempts` were made, in milliseconds, or undefined when there is none left.
 * `schedule` holds the delay before each attempt, counted from the end of the one before (spec: Retries 2; OP-65).
 * `random`, from 0 to 1, says how much of a tenth of the delay is added: an attempt never comes early.
 */
export function delayAfter(attempts: number, schedule: readonly number[], random: number): number | undefined {
  const delay = schedule[attempts]
  return delay === undefined ? undefined : Math.floor(delay + delay * MAX_JITTER * random)
}
