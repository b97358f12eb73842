import type { Component } from './component.ts'
import { deadline } from './deadline.ts'

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
    const { promise: missed, resolve } = Promise.withResolvers<false>()
    return Promise.race([answer, missed]).finally(deadline(ANSWER_WITHIN_MS, () => resolve(false)))
  }
}
