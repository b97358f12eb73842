import { useEffect, useState } from 'react'
import { Dialog } from '../parts/dialog.tsx'
import { fieldOf, submitted } from '../parts/form-dialog.tsx'
import { askForReasons } from './reasons.ts'

interface Asked {
  readonly id: number
  readonly request: Request
  readonly give: (reason: string) => void
  readonly refuse: (error: Error) => void
}

let lastId = 0

/** Asks for the reasons of writes in a session of support, for one after the other. */
export function SupportReason() {
  const [waiting, setWaiting] = useState<readonly Asked[]>([])
  useEffect(() => {
    askForReasons((request) => {
      lastId += 1
      const id = lastId
      return new Promise((give, refuse) => setWaiting((asked) => [...asked, { id, request, give, refuse }]))
    })
    return () => askForReasons(undefined)
  }, [])
  const [asked] = waiting
  if (asked === undefined) return null

  const next = () => setWaiting(([, ...rest]) => rest)
  const close = () => {
    asked.refuse(new Error('Nothing was sent: support changes something only with a reason.'))
    next()
  }
  const submit = submitted((form) => {
    asked.give(fieldOf(form, 'reason'))
    next()
  })
  return (
    <Dialog key={asked.id} title="Why does support change this?" onClose={close}>
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
