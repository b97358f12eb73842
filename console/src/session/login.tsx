import { Link, useNavigate } from '@tanstack/react-router'
import { useEffect, useRef, useState } from 'react'
import { fieldOf, submitted } from '../parts/form-dialog.tsx'
import { Refusal } from '../parts/page.tsx'
import { type Sessions, useSignIn } from './session.ts'

interface LoginProps {
  readonly sessions: Sessions
  readonly isOperators: boolean
  /** The page of a session that is over waits for the same person. */
  readonly isAwaited: boolean
}

/** Takes an API key or an operator's token once. The browser keeps neither. */
export function Login({ sessions, isOperators, isAwaited }: LoginProps) {
  const navigate = useNavigate()
  const { begin } = useSignIn()
  const [refusal, setRefusal] = useState<unknown>()
  const credential = useRef<HTMLInputElement>(null)
  const [isBusy, setIsBusy] = useState(false)
  useEffect(() => {
    document.title = 'Sign in · Commerce Back-Office'
    credential.current?.focus()
  }, [])

  const submit = submitted(async (form) => {
    setIsBusy(true)
    setRefusal(undefined)
    try {
      const { workspace, operator } = await begin(fieldOf(form, 'credential'))
      // The credential was for the other pages.
      if (isOperators && operator === null) navigate({ to: '/' })
      if (!isOperators && workspace === null) navigate({ to: '/operators/workspaces' })
    } catch (error) {
      setRefusal(error)
    }
    setIsBusy(false)
  })

  return (
    <main className="login card">
      <p className="brand">Commerce Back-Office</p>
      <h1>Sign in</h1>
      {isAwaited && (
        <p className="notice" role="status">
          The session is over. Sign in as before, and the page is as you have left it.
        </p>
      )}
      <form onSubmit={submit}>
        <label>
          API key
          <input ref={credential} name="credential" type="password" required autoComplete="off" spellCheck={false} />
        </label>
        <p className="quiet">
          The session lasts for eight hours at most and ends with the key. It may do what the key may. Operators sign in
          with their token.
        </p>
        <Refusal of={refusal} />
        <button type="submit" className="primary" disabled={isBusy}>
          {isBusy ? 'Signing in…' : 'Sign in'}
        </button>
      </form>
      {sessions.operator && <Link to="/operators/workspaces">To the pages of operators</Link>}
      {sessions.workspace && <Link to="/">To the workspace that is open</Link>}
    </main>
  )
}
