/** What an attempt may come later than its delay, at most: a tenth of the delay (OP-65). */
const MAX_JITTER = 0.1

/**
 * When the next attempt is due after `attempts` were made, or undefined when there is none left. `schedule` holds the
 * delay before each attempt in milliseconds, counted from the end of the one before (spec: Retries 2; OP-65). `jitter`,
 * from 0 to 1, says how much of a tenth of the delay is added: an attempt never comes early.
 */
export function nextAttemptAt(
  attempts: number,
  endedAt: Date,
  schedule: readonly number[],
  jitter: number,
): Date | undefined {
  const delay = schedule[attempts]
  if (delay === undefined) return undefined
  return new Date(endedAt.getTime() + Math.floor(delay + delay * MAX_JITTER * jitter))
}
