import { type FormEvent, useEffect, useState } from 'react'
import { Dialog } from '../parts/dialog.tsx'
import { askForReasons } from './reasons.ts'

interface Asked {
  readonly request: Request
  readonly give: (reason: string) => void
  readonly refuse: (error: Error) => void
}

/** Asks for the reason of each write in a session of support. */
export function SupportReason() {
  const [asked, setAsked] = useState<Asked>()
  useEffect(() => {
    askForReasons((request) => new Promise((give, refuse) => setAsked({ request, give, refuse })))
    return () => askForReasons(undefined)
  }, [])
  if (asked === undefined) return null

  const close = () => {
    asked.refuse(new Error('Nothing was sent: support changes something only with a reason.'))
    setAsked(undefined)
  }
  const submit = (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault()
    asked.give(String(new FormData(event.currentTarget).get('reason')))
    setAsked(undefined)
  }
  return (
    <Dialog title="Why does support change this?" onClose={close}>
      <form onSubmit={submit}>
        <label>
          Reason, for the audit log
          <input name="reason" required maxLength={255} />
        </label>
        <div className="actions">
          <button type="button" onClick={close}>
            Cancel
          </button>
          <button type="submit" className="primary">
            Send {asked.request.method}
          </button>
        </div>
      </form>
    </Dialog>
  )
}
