import { Outlet, useRouterState } from '@tanstack/react-router'
import { Activity } from 'react'
import { Failure } from '../parts/page.tsx'
import { Frame } from './frame.tsx'
import { Login } from './login.tsx'
import { useSessions, whose } from './session.ts'

/**
 * The page for those who are signed in; the login for others. Operators' pages are below /operators. When a session ends
 * by itself its page is hidden as it is, with what somebody has typed, until the same person signs in again or does not
 * come back in time.
 */
export function Root() {
  const { data: sessions, error, refetch } = useSessions()
  const isOperators = useRouterState({ select: ({ location }) => location.pathname.startsWith('/operators') })
  if (sessions === undefined) return error && <Failure error={error} retry={refetch} />
  const kind = isOperators ? 'operator' : 'workspace'
  const isOpen = sessions[kind] !== null
  const session = whose(sessions.pages)[kind]
  return (
    <>
      {session !== undefined && (
        <Activity key={session} mode={isOpen ? 'visible' : 'hidden'}>
          <Frame sessions={sessions.pages} isOperators={isOperators}>
            <Outlet />
          </Frame>
        </Activity>
      )}
      {!isOpen && <Login sessions={sessions} isOperators={isOperators} isAwaited={session !== undefined} />}
    </>
  )
}
