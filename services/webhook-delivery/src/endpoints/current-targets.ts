import type { AnySql } from '@backoffice/postgres/database.ts'
import type { EndpointDirectory } from './endpoint-directory.ts'
import type { Target, Targets } from './targets.ts'

/** Tells an endpoint as committed when this is called; undefined once it is deleted. */
export type CurrentTarget = (target: Target) => Promise<Target | undefined>

/**
 * Asks the directory for endpoints one by one, so that each attempt goes where, and is signed as, its endpoint says at that
 * moment (OP-63, OP-97). One query is under way at a time; all who ask meanwhile share the next.
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
