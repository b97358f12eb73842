import { setTimeout as pause } from 'node:timers/promises'
import type { Component } from './component.ts'
import type { Logger } from './logger.ts'

/** The components of a process, in the order of their start; those of an inner list start at the same time. */
export interface Components {
  /** What the others use, such as pools: start first and stop last. */
  readonly used: readonly (Component | readonly Component[])[]
  /** Accept work, such as requests and records. */
  readonly accepting: readonly Component[]
}

/**
 * Stops components in the reverse order, those that accept work at the same time, so that consumers end however long a
 * request takes. Nobody is waited for beyond the deadlines (`performance.now()`), `work` for those that accept work and
 * `all` for the others. Returns whether all have stopped.
 */
export async function stopComponents(
  { used, accepting }: { readonly used: readonly Component[]; readonly accepting: readonly Component[] },
  deadlines: { readonly work: number; readonly all: number },
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
  const areStopped = await Promise.all(accepting.map((component) => stopOne(component, deadlines.work)))
  for (const component of used.toReversed()) areStopped.push(await stopOne(component, deadlines.all))
  return areStopped.every((isStopped) => isStopped)
}
