import { setTimeout as pause } from 'node:timers/promises'
import type { Component } from './component.ts'
import type { Logger } from './logger.ts'

/** In the order of their start. The components of an inner list accept work, such as requests and records. */
export type Components = readonly (Component | readonly Component[])[]

/** As `performance.now()`: for components that accept work, and for all. */
export interface StopDeadlines {
  readonly work: number
  readonly all: number
}

/**
 * Stops components in the reverse order, those of a list at the same time, so that consumers end however long a request
 * takes. Nobody is waited for beyond the deadlines. Returns whether all have stopped.
 */
export async function stopComponents(
  components: Components,
  deadlines: StopDeadlines,
  logger: Pick<Logger, 'error'>,
): Promise<boolean> {
  const stopOne = async (component: Component, until: number): Promise<boolean> => {
    const stopped = (component.stop?.(until) ?? Promise.resolve()).then(
      () => true,
      (error: unknown) => {
        logger.error({ err: error, component: component.name }, 'could not stop')
        return true
      },
    )
    const isStopped = await Promise.race([stopped, pause(Math.max(0, until - performance.now()), false)])
    if (!isStopped) logger.error({ component: component.name }, 'did not stop in time')
    return isStopped
  }
  let areStopped = true
  for (const each of components.toReversed()) {
    const results =
      'name' in each
        ? [await stopOne(each, deadlines.all)]
        : await Promise.all(each.map((component) => stopOne(component, deadlines.work)))
    areStopped &&= results.every((isStopped) => isStopped)
  }
  return areStopped
}
