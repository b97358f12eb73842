import type { Component } from './component.ts'
import { answeredOr } from './deadline.ts'

const ANSWER_WITHIN_MS = 2000

/** Asks components whether they are ready, for 2 s each. One that hangs is not asked again meanwhile. */
export function readyWithin(): (component: Component) => Promise<boolean> {
  const asked = new Map<Component, Promise<boolean>>()
  return (component) => {
    const ask = async () => (await component.isReady?.()) ?? true
    const answer =
      asked.get(component) ??
      ask()
        .catch(() => false)
        .finally(() => asked.delete(component))
    asked.set(component, answer)
    return answeredOr(ANSWER_WITHIN_MS, answer, () => false)
  }
}
