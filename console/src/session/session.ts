import { queryOptions, useQuery, useQueryClient } from '@tanstack/react-query'
import { isGranted, type Scope } from '../../../libs/contracts/src/scopes.ts'
import { isOtherThanShown, OUR_HEADER, showWorkspace } from '../api/client.ts'
import { failureOf } from '../api/failure.ts'

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
  if (!response.ok) throw failureOf(response.status, answer)
  return answer
}

/** The sessions as they are now. Another tab may have signed in to another workspace: the pages begin anew. */
async function readSessions(): Promise<Sessions> {
  const sessions = await send('GET')
  const id = sessions.workspace?.workspace.id
  if (isOtherThanShown(id)) location.reload()
  else showWorkspace(id)
  return sessions
}

const ofBrowser = queryOptions({ queryKey: ['session'], queryFn: readSessions, staleTime: 60_000 })

/** The sessions of this browser: in a workspace, and as an operator. */
export const useSessions = () => useQuery(ofBrowser)

/** The session in a workspace. Only pages that need one ask for it. */
export function useWorkspaceSession(): WorkspaceSession {
  const session = useSessions().data?.workspace
  if (!session) throw new Error('there is no session in a workspace')
  return session
}

/** Whether the session may do what needs a scope. A session of support may write, with a reason. */
export function useCan(): (scope: Scope) => boolean {
  const session = useSessions().data?.workspace
  return (scope) => session?.kind === 'support' || isGranted(session?.scopes ?? [], scope)
}

/**
 * Whether the session reads what needs a scope to change things, such as drafts. A session of support reads with the
 * scopes of a reader.
 */
export function useReads(): (scope: Scope) => boolean {
  const session = useSessions().data?.workspace
  return (scope) => isGranted(session?.scopes ?? [], scope)
}

/** Begins and ends sessions. What another session has read is forgotten. */
export function useSignIn() {
  const queries = useQueryClient()
  const isNow = (sessions: Sessions) => {
    showWorkspace(sessions.workspace?.workspace.id)
    queries.removeQueries({ predicate: ({ queryKey }) => queryKey[0] !== ofBrowser.queryKey[0] })
    queries.setQueryData(ofBrowser.queryKey, sessions)
  }
  return {
    begin: async (credential: string) => {
      const sessions = await send('POST', '', { credential })
      isNow(sessions)
      return sessions
    },
    end: async (which: 'workspace' | 'operator') => {
      await send('DELETE', `?which=${which}`)
      isNow(await send('GET'))
    },
  }
}
