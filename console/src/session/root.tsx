import { Outlet, useRouterState } from '@tanstack/react-router'
import { Failure } from '../parts/page.tsx'
import { Frame } from './frame.tsx'
import { Login } from './login.tsx'
import { useSessions, whose } from './session.ts'

/** The page for those who are signed in; the login for others. Operators' pages are below /operators. */
export function Root() {
  const { data: sessions, error, refetch } = useSessions()
  const isOperators = useRouterState({ select: ({ location }) => location.pathname.startsWith('/operators') })
  if (sessions === undefined) return error && <Failure error={error} retry={refetch} />
  const session = whose(sessions)[isOperators ? 'operator' : 'workspace']
  if (session === undefined) return <Login sessions={sessions} isOperators={isOperators} />
  return (
    <Frame key={session} sessions={sessions} isOperators={isOperators}>
      <Outlet />
    </Frame>
  )
}
