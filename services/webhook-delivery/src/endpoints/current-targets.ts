import type { AnySql } from '@backoffice/postgres/database.ts'
import type { EndpointDirectory } from './endpoint-directory.ts'
import type { Target, Targets } from './targets.ts'

/** Reads the committed state of an endpoint at the time of the call; undefined once the endpoint is deleted. */
export type CurrentTarget = (target: Target) => Promise<Target | undefined>

/**
 * Reads endpoints from the directory one by one, so that each attempt uses its endpoint's URL and secrets of that
 * moment (OP-63, OP-97). One query runs at a time; all calls in the meantime share the next query.
 */
export function currentTargets(sql: AnySql, directory: EndpointDirectory): CurrentTarget {
  let asking: Promise<unknown> = Promise.resolve()
  let next: { workspaceIds: string[]; answer: Promise<ReadonlyMap<string, Targets>> } | undefined

  const askNext = () => {
    const workspaceIds: string[] = []
    const answer = asking.then(() => {
      next = undefined
      return directory.of(sql, workspaceIds)
    })
    asking = answer.catch(() => undefined)
    next = { workspaceIds, answer }
    return next
  }

  return async ({ workspaceId, id }) => {
    const { workspaceIds, answer } = next ?? askNext()
    workspaceIds.push(workspaceId)
    return (await answer).get(workspaceId)?.get(id)
  }
}
