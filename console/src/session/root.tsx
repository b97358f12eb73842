import { Outlet, useRouterState } from '@tanstack/react-router'
import { Failure } from '../parts/answer.tsx'
import { Frame } from './frame.tsx'
import { Login } from './login.tsx'
import { useSessions } from './session.ts'

/** The page for those who are signed in; the login for others. Operators' pages are below /operators. */
export function Root() {
  const { data: sessions, error, refetch } = useSessions()
  const isOperators = useRouterState({ select: ({ location }) => location.pathname.startsWith('/operators') })
  if (sessions === undefined) return error && <Failure error={error} retry={refetch} />
  const { workspace, operator } = sessions
  const whose = isOperators ? operator?.name : workspace?.workspace.id
  if (whose === undefined) return <Login sessions={sessions} isOperators={isOperators} />
  return (
    <Frame key={whose} sessions={sessions} isOperators={isOperators}>
      <Outlet />
    </Frame>
  )
}
