import type { Component } from './component.ts'
import { deadline } from './deadline.ts'

const ANSWER_WITHIN_MS = 2000

/**
 * Asks components whether they are ready. One that has no answer within 2 s is not, and is not asked again before its answer: the probe
 * of a hanging process would otherwise add questions for as long as it hangs.
 */
export function readyWithin(answerWithinMs = ANSWER_WITHIN_MS): (component: Component) => Promise<boolean> {
  const asked = new Map<Component, Promise<boolean>>()

  async function ask(component: Component): Promise<boolean> {
    try {
      // Never before its question is noted.
      await null
      return (await component.isReady?.()) ?? true
    } catch {
      return false
    } finally {
      asked.delete(component)
    }
  }

  return (component) => {
    if (component.isReady === undefined) return Promise.resolve(true)
    let answer = asked.get(component)
    if (answer === undefined) {
      answer = ask(component)
      asked.set(component, answer)
    }
    const { promise: missed, resolve } = Promise.withResolvers<false>()
    return Promise.race([answer, missed]).finally(deadline(answerWithinMs, () => resolve(false)))
  }
}
