import { focusManager, type QueryClient, queryOptions, useQuery, useQueryClient } from '@tanstack/react-query'
import { useEffect, useState } from 'react'
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

type Kind = keyof Sessions

/** Somebody at work keeps the session in use: typing alone would send nothing for half an hour. */
const LOOK_MS = 5 * 60_000
/** How long a look for the end waits at least, where the clock of the browser is ahead. */
const PAUSE_MS = 60_000

/** A session that is not used for so long ends within a minute. */
const UNUSED_MS = 30 * 60_000

/** How long the pages of a session that ended by itself wait for the same person. */
export const PAGES_WAIT_MS = 30 * 60_000

/** The sessions, and whose pages this tab has: those of a session that ends by itself wait. */
interface Known extends Sessions {
  readonly pages: Sessions
}

interface Sent {
  readonly search?: string
  readonly body?: object
  readonly signal?: AbortSignal
}

async function send(method: 'GET' | 'POST' | 'DELETE', { search = '', body, signal }: Sent = {}): Promise<Sessions> {
  const response = await fetch(`/console/session${search}`, {
    method,
    ...(signal && { signal }),
    headers: { ...OUR_HEADER, ...(body && { 'content-type': 'application/json' }) },
    ...(body && { body: JSON.stringify(body) }),
  })
  const answer = await response.json().catch(() => undefined)
  // A proxy may answer 200 with a page of its own.
  if (!response.ok || (answer === undefined && method !== 'DELETE')) throw failureOf(response, answer)
  // A sign-out answers nothing: of two sessions the other one stays.
  if (method !== 'DELETE') showWorkspace(answer.workspace?.workspace.id)
  return answer
}

const NONE: Sessions = { workspace: null, operator: null }

/** The sessions of this browser: in a workspace, and as an operator. */
export const sessions = queryOptions({
  queryKey: ['session'],
  staleTime: 60_000,
  async queryFn({ client, queryKey, signal }) {
    const now = await send('GET', { signal }).catch((error) => {
      if (isSignedOut(error)) return NONE
      throw error
    })
    return known(client, now, client.getQueryData<Known>(queryKey)?.pages)
  },
})

/** Whose the sessions are; undefined without one. */
export const whose = ({ workspace, operator }: Sessions) => ({
  workspace: workspace ? [workspace.workspace.id, workspace.key?.id, workspace.operator].join() : undefined,
  operator: operator?.name,
})
type Whose = ReturnType<typeof whose>

/**
 * What is known with these sessions. What others than before have read is forgotten. Of a link nobody knows who comes
 * back with another one: its pages wait for nobody.
 */
function known(queries: QueryClient, now: Sessions, before: Sessions = NONE): Known {
  const waiting = before.workspace?.kind === 'link' ? null : before.workspace
  const pages = { workspace: now.workspace ?? waiting, operator: now.operator ?? before.operator }
  forget(queries, whose(before), whose(pages))
  return { ...now, pages }
}

/** Pages of operators have names of queries of their own. */
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
  useWait('workspace', found.data)
  useWait('operator', found.data)
  useEnd(found.data?.workspace?.expires_at, found.dataUpdatedAt)
  useEnd(found.data?.operator?.expires_at, found.dataUpdatedAt)
  useRest()
  useEffect(() => {
    if (now === undefined) return
    const tabs = new BroadcastChannel(TABS)
    tabs.onmessage = ({ data }) => {
      if (isKind(data)) forgetPages(queries, data)
      if (data !== now) queries.invalidateQueries(sessions)
    }
    tabs.postMessage(now)
    return () => tabs.close()
  }, [now, queries])
  return found
}

const TABS = 'sessions'
const isKind = (data: unknown): data is Kind => data === 'workspace' || data === 'operator'

/** Looks for the end of an open session when its time has come, and while somebody is at work. */
function useEnd(at: string | undefined, lookedAt: number): void {
  const queries = useQueryClient()
  useEffect(() => {
    if (at === undefined) return
    const look = () => void queries.prefetchQuery({ ...sessions, staleTime: LOOK_MS })
    const isLate = lookedAt >= Date.parse(at)
    const timer = setTimeout(() => queries.invalidateQueries(sessions), isLate ? PAUSE_MS : Date.parse(at) - Date.now())
    for (const event of AT_WORK) addEventListener(event, look)
    return () => {
      clearTimeout(timer)
      for (const event of AT_WORK) removeEventListener(event, look)
    }
  }, [at, lookedAt, queries])
}
const AT_WORK = ['keydown', 'pointerdown'] as const
const IN_USE = [...AT_WORK, 'wheel'] as const

/**
 * A page that nobody uses asks for nothing by itself, as if it were hidden: that would keep its session in use. It
 * looks once for the end that follows.
 */
function useRest(): void {
  const queries = useQueryClient()
  useEffect(() => {
    let timer: ReturnType<typeof setTimeout> | undefined
    const rest = () => {
      focusManager.setFocused(false)
      timer = setTimeout(() => queries.invalidateQueries(sessions), UNUSED_MS + 2 * PAUSE_MS)
    }
    const use = () => {
      focusManager.setFocused(undefined)
      clearTimeout(timer)
      timer = setTimeout(rest, UNUSED_MS)
    }
    const come = () => {
      if (document.visibilityState === 'visible') use()
    }
    use()
    for (const event of IN_USE) addEventListener(event, use, { passive: true })
    document.addEventListener('visibilitychange', come)
    return () => {
      clearTimeout(timer)
      for (const event of IN_USE) removeEventListener(event, use)
      document.removeEventListener('visibilitychange', come)
    }
  }, [queries])
}

/** Whether a time has come. */
export function useHasCome(at: number): boolean {
  const [came, setCame] = useState<number>()
  useEffect(() => {
    const timer = setTimeout(() => setCame(at), at - Date.now())
    return () => clearTimeout(timer)
  }, [at])
  return came === at
}

/** Forgets pages whose session is over when nobody comes back to them. */
function useWait(which: Kind, now?: Known): void {
  const queries = useQueryClient()
  const isAwaited = now !== undefined && now[which] === null && now.pages[which] !== null
  useEffect(() => {
    if (!isAwaited) return
    const timer = setTimeout(() => forgetPages(queries, which), PAGES_WAIT_MS)
    return () => clearTimeout(timer)
  }, [isAwaited, which, queries])
}

/** Somebody has signed out, or does not come back: nothing of the pages waits for them. */
function forgetPages(queries: QueryClient, which: Kind): void {
  queries.setQueryData<Known>(sessions.queryKey, (before) => {
    if (before === undefined) return undefined
    const pages = { ...before.pages, [which]: null }
    forget(queries, whose(before.pages), whose(pages))
    return { ...before, [which]: null, pages }
  })
}

/** The session in a workspace whose pages these are; null without one. */
const useWorkspace = () => useQuery(sessions).data?.pages.workspace

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
  return {
    begin: async (credential: string) => {
      const begun = await send('POST', { body: { credential } })
      // A look of before the login would tell what was so then.
      await queries.cancelQueries(sessions)
      queries.setQueryData<Known>(sessions.queryKey, (before) => known(queries, begun, before?.pages))
      queries.invalidateQueries({ predicate: ({ queryKey }) => queryKey[0] !== sessions.queryKey[0] })
      return begun
    },
    end: async (which: Kind) => {
      await send('DELETE', { search: `?which=${which}` })
      forgetPages(queries, which)
      const tabs = new BroadcastChannel(TABS)
      tabs.postMessage(which)
      tabs.close()
      await queries.invalidateQueries(sessions)
    },
  }
}
