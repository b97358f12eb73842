import { setTimeout as pause } from 'node:timers/promises'

/**
 * Calls `ask` until it returns neither undefined nor false, and returns that. Throws with `what` after `withinMs`. What
 * takes long is asked more rarely: other tests need the processor.
 */
export async function eventually<Answer>(
  what: string,
  ask: () => Promise<Answer | undefined | false> | Answer | undefined | false,
  withinMs = 60_000,
): Promise<Answer> {
  const deadline = performance.now() + withinMs
  for (;;) {
    const askedAt = performance.now()
    const answer = await ask()
    if (answer !== undefined && answer !== false) return answer
    if (performance.now() > deadline) throw new Error(`not within ${withinMs} ms: ${what}`)
    await pause(Math.min(200, Math.max(20, 4 * (performance.now() - askedAt))))
  }
}
