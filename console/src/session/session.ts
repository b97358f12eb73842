import { type QueryClient, queryOptions, useQuery, useQueryClient } from '@tanstack/react-query'
import { useEffect } from 'react'
import { isGranted, type Scope } from '../../../libs/contracts/src/scopes.ts'
import { OUR_HEADER, showWorkspace } from '../api/client.ts'
import { failureOf, isSignedOut } from '../api/failure.ts'

/** Who looks at the console, in which workspace. */
export interface WorkspaceSession {
  /** By an API key, by a link of the platform, or of an operator who supports the workspace. */
  readonly kind: 'key' | 'link' | 'support'
  readonly workspace: { readonly id: string; readonly name: string; readonly livemode: boolean }
  readonly scopes: readonly string[]
  readonly key: { readonly id: string; readonly name: string } | null
  readonly operator: string | null
  readonly reason: string | null
  readonly expires_at: string
}

export interface Sessions {
  readonly workspace: WorkspaceSession | null
  readonly operator: { readonly name: string; readonly expires_at: string } | null
}

async function send(method: 'GET' | 'POST' | 'DELETE', search = '', body?: object): Promise<Sessions> {
  const response = await fetch(`/console/session${search}`, {
    method,
    headers: { ...OUR_HEADER, ...(body && { 'content-type': 'application/json' }) },
    ...(body && { body: JSON.stringify(body) }),
  })
  const answer = await response.json().catch(() => undefined)
  // A proxy may answer 200 with a page of its own.
  if (!response.ok || (answer === undefined && method !== 'DELETE')) throw failureOf(response, answer)
  showWorkspace(answer?.workspace?.workspace.id)
  return answer
}

/** The sessions of this browser: in a workspace, and as an operator. */
export const sessions = queryOptions({
  queryKey: ['session'],
  staleTime: 60_000,
  async queryFn({ client, queryKey }) {
    const now = await send('GET').catch((error) => {
      if (isSignedOut(error)) return { workspace: null, operator: null }
      throw error
    })
    const before = client.getQueryData<Sessions>(queryKey)
    if (before) forget(client, whose(before), whose(now))
    return now
  },
})

/** Whose the sessions are; undefined without one. */
export const whose = ({ workspace, operator }: Sessions) => ({
  workspace: workspace ? [workspace.workspace.id, workspace.key?.id, workspace.operator].join() : undefined,
  operator: operator?.name,
})
type Whose = ReturnType<typeof whose>

/** Forgets what others have read: pages of operators have names of queries of their own. */
function forget(queries: QueryClient, before: Whose, now: Whose): void {
  const others = [sessions.queryKey[0], 'operators']
  if (before.operator !== now.operator) queries.removeQueries({ queryKey: ['operators'] })
  if (before.workspace !== now.workspace)
    queries.removeQueries({ predicate: ({ queryKey }) => !others.includes(String(queryKey[0])) })
}

/** As `sessions`. A browser has one session of each kind: what one tab begins or ends, the others learn at once. */
export function useSessions() {
  const queries = useQueryClient()
  const found = useQuery(sessions)
  const now = found.data && JSON.stringify(whose(found.data))
  useEffect(() => {
    if (now === undefined) return
    const tabs = new BroadcastChannel('sessions')
    tabs.onmessage = ({ data }) => data !== now && queries.invalidateQueries(sessions)
    tabs.postMessage(now)
    return () => tabs.close()
  }, [now, queries])
  return found
}

/** The session in a workspace; null without one. */
const useWorkspace = () => useQuery(sessions).data?.workspace

/** The session in a workspace. Only pages that need one ask for it. */
export function useWorkspaceSession(): WorkspaceSession {
  const session = useWorkspace()
  if (!session) throw new Error('there is no session in a workspace')
  return session
}

/** Whether the session may do what needs a scope. A session of support may write, with a reason. */
export function useCan(): (scope: Scope) => boolean {
  const session = useWorkspace()
  return (scope) => session?.kind === 'support' || isGranted(session?.scopes ?? [], scope)
}

/**
 * Whether the session reads what needs a scope to change things, such as drafts. A session of support reads with the
 * scopes of a reader.
 */
export function useReads(): (scope: Scope) => boolean {
  const session = useWorkspace()
  return (scope) => isGranted(session?.scopes ?? [], scope)
}

/** Begins and ends sessions. What another session has read is forgotten. */
export function useSignIn() {
  const queries = useQueryClient()
  const isNow = (now: Sessions) => {
    queries.removeQueries({ predicate: ({ queryKey }) => queryKey[0] !== sessions.queryKey[0] })
    queries.setQueryData(sessions.queryKey, now)
  }
  return {
    begin: async (credential: string) => {
      const begun = await send('POST', '', { credential })
      isNow(begun)
      return begun
    },
    end: async (which: 'workspace' | 'operator') => {
      await send('DELETE', `?which=${which}`)
      isNow(await send('GET'))
    },
  }
}
