import type { Component } from './component.ts'
import { deadline } from './deadline.ts'

const ANSWER_WITHIN_MS = 2000

/** Asks components whether they are ready, for 2 s each. One that hangs is not asked again meanwhile. */
export function readyWithin(answerWithinMs = ANSWER_WITHIN_MS): (component: Component) => Promise<boolean> {
  const asked = new Map<Component, Promise<boolean>>()

  async function ask(component: Component): Promise<boolean> {
    try {
      // Waits until the caller has put the question into `asked`, so that `finally` removes it.
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
