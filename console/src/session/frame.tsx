import { Link } from '@tanstack/react-router'
import { type ReactNode, useRef, useState } from 'react'
import { useAction } from '../parts/action.tsx'
import { Time } from '../parts/text.tsx'
import { OPERATOR_MENU, WORKSPACE_MENU } from './menu.ts'
import { type Sessions, useCan, useSignIn, type WorkspaceSession } from './session.ts'
import { SupportReason } from './support-reason.tsx'

interface FrameProps {
  readonly sessions: Sessions
  readonly isOperators: boolean
  readonly children: ReactNode
}

/** What is around each page: whose workspace it is, the menu, and the way out. */
export function Frame({ sessions, isOperators, children }: FrameProps) {
  const { workspace, operator } = sessions
  const can = useCan()
  const { end } = useSignIn()
  const signOut = useAction(() => end(isOperators ? 'operator' : 'workspace'), { done: 'You are signed out.' })
  const [isOpen, setIsOpen] = useState(false)
  const main = useRef<HTMLElement>(null)
  const menu = isOperators ? OPERATOR_MENU : WORKSPACE_MENU.filter(({ needs }) => can(needs))
  return (
    <div className="frame">
      <button type="button" className="skip" onClick={() => main.current?.focus()}>
        Skip to the page
      </button>
      <header className="bar">
        <button
          type="button"
          className="plain menu-button"
          aria-expanded={isOpen}
          aria-controls="menu"
          onClick={() => setIsOpen(!isOpen)}
        >
          Menu
        </button>
        <span className="brand">{isOperators ? 'Operators' : workspace?.workspace.name}</span>
        {!isOperators && workspace && !workspace.workspace.livemode && <span className="badge busy">sandbox</span>}
        <span className="grow" />
        <span className="quiet who">
          {isOperators ? operator?.name : (workspace?.key?.name ?? workspace?.operator)}
        </span>
        <button type="button" className="plain" onClick={() => signOut.mutate()}>
          Sign out
        </button>
      </header>
      {!isOperators && workspace?.kind === 'support' && <SupportBanner session={workspace} />}
      <nav id="menu" className={isOpen ? 'menu open' : 'menu'} aria-label="Pages">
        {menu.map(({ to, title }) => (
          <Link
            key={to}
            to={to}
            onClick={() => setIsOpen(false)}
            activeOptions={{ exact: to === '/' }}
            activeProps={{ 'aria-current': 'page' }}
          >
            {title}
          </Link>
        ))}
      </nav>
      <main id="main" ref={main} tabIndex={-1}>
        {children}
      </main>
      {workspace?.kind === 'support' && <SupportReason />}
    </div>
  )
}

/** Says that the platform's support looks at a merchant's workspace. */
const SupportBanner = ({ session }: { readonly session: WorkspaceSession }) => (
  <div className="support" role="status">
    Support by {session.operator}
    {session.reason ? `: ${session.reason}` : ''}. Each request is in the audit log; what changes something asks for a
    reason. Until <Time at={session.expires_at} />.
  </div>
)
