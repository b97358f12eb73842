import { Link } from '@tanstack/react-router'
import { type ReactNode, useRef, useState } from 'react'
import { useAction } from '../parts/action.tsx'
import { Discard, hasUnsaved } from '../parts/dialog.tsx'
import { Time } from '../parts/text.tsx'
import { OPERATOR_MENU, WORKSPACE_MENU } from './menu.ts'
import { type Sessions, useCan, useHasCome, useSignIn } from './session.ts'
import { SupportReason } from './support-reason.tsx'

/** How long before its end a session says so. */
const SOON_MS = 10 * 60_000

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
  const [isAsked, setIsAsked] = useState(false)
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
        <button type="button" className="plain" onClick={() => (hasUnsaved() ? setIsAsked(true) : signOut.mutate())}>
          Sign out
        </button>
      </header>
      <Banner sessions={sessions} isOperators={isOperators} />
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
      {isAsked && <Discard onYes={() => signOut.mutate()} onClose={() => setIsAsked(false)} />}
      {workspace?.kind === 'support' && <SupportReason />}
    </div>
  )
}

/** Says that the platform's support looks at a merchant's workspace, and that the session ends soon. */
function Banner({ sessions: { workspace, operator }, isOperators }: Omit<FrameProps, 'children'>) {
  const ends = (isOperators ? operator : workspace)?.expires_at ?? ''
  const isSoon = useHasCome(Date.parse(ends) - SOON_MS)
  return (
    <div className={isSoon ? 'banner soon' : 'banner'} role="status">
      {!isOperators && workspace?.kind === 'support' && (
        <p>
          Support by {workspace.operator}
          {workspace.reason ? `: ${workspace.reason}` : ''}. Each request is in the audit log; what changes something
          asks for a reason. Until <Time at={workspace.expires_at} />.
        </p>
      )}
      {isSoon && (
        <p>
          The session ends soon: <Time at={ends} />. Save by then.{' '}
          {!isOperators && workspace?.kind === 'link'
            ? 'What is not saved is lost.'
            : 'What is not saved waits until you sign in again.'}
        </p>
      )}
    </div>
  )
}
