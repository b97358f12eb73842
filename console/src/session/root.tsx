import { Outlet, useRouterState } from '@tanstack/react-router'
import { Failure } from '../parts/answer.tsx'
import { Frame } from './frame.tsx'
import { Login } from './login.tsx'
import { useSessions } from './session.ts'

/** The page for those who are signed in; the login for others. Operators' pages are below /operators. */
export function Root() {
  const sessions = useSessions()
  const isOperators = useRouterState({ select: ({ location }) => location.pathname.startsWith('/operators') })
  if (sessions.isPending) return null
  if (sessions.isError) return <Failure error={sessions.error} retry={sessions.refetch} />
  const { workspace, operator } = sessions.data
  if (isOperators ? operator === null : workspace === null)
    return <Login sessions={sessions.data} isOperators={isOperators} />
  return (
    <Frame sessions={sessions.data} isOperators={isOperators}>
      <Outlet />
    </Frame>
  )
}
