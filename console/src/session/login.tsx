import { Link, useNavigate } from '@tanstack/react-router'
import { type FormEvent, useEffect, useState } from 'react'
import { textOf } from '../api/failure.ts'
import { type Sessions, useSignIn } from './session.ts'

interface LoginProps {
  readonly sessions: Sessions
  readonly isOperators: boolean
}

/** Takes an API key or an operator's token once. The browser keeps neither. */
export function Login({ sessions, isOperators }: LoginProps) {
  const navigate = useNavigate()
  const { begin } = useSignIn()
  const [refusal, setRefusal] = useState<string>()
  const [isBusy, setIsBusy] = useState(false)
  useEffect(() => {
    document.title = 'Sign in · Commerce Back-Office'
  }, [])

  async function submit(event: FormEvent<HTMLFormElement>) {
    event.preventDefault()
    const credential = String(new FormData(event.currentTarget).get('credential') ?? '').trim()
    setIsBusy(true)
    setRefusal(undefined)
    try {
      const { workspace, operator } = await begin(credential)
      // The credential was for the other pages.
      if (isOperators && operator === null) navigate({ to: '/' })
      if (!isOperators && workspace === null) navigate({ to: '/operators/workspaces' })
    } catch (error) {
      setRefusal(textOf(error))
    }
    setIsBusy(false)
  }

  return (
    <main className="login card">
      <p className="brand">Commerce Back-Office</p>
      <h1>Sign in</h1>
      <form onSubmit={submit}>
        <label>
          API key
          <input name="credential" type="password" required autoComplete="off" spellCheck={false} />
        </label>
        <p className="quiet">
          The session lasts for eight hours at most and ends with the key. It may do what the key may. Operators sign in
          with their token.
        </p>
        {refusal && (
          <p className="notice bad" role="alert">
            {refusal}
          </p>
        )}
        <button type="submit" className="primary" disabled={isBusy}>
          {isBusy ? 'Signing in…' : 'Sign in'}
        </button>
      </form>
      {sessions.operator && <Link to="/operators/workspaces">To the pages of operators</Link>}
      {sessions.workspace && <Link to="/">To the workspace that is open</Link>}
    </main>
  )
}
