import type { FormEvent, ReactNode } from 'react'
import { textOf } from '../api/failure.ts'
import { Dialog } from './dialog.tsx'

interface AskDialogProps {
  readonly title: string
  /** What the button says that sends the form. */
  readonly submit: string
  /** Takes the form: an action that shows no failures, since they are shown here. */
  readonly action: {
    readonly isPending: boolean
    readonly error: unknown
    readonly mutate: (form: FormData) => void
  }
  readonly isDanger?: boolean
  readonly onClose: () => void
  readonly children: ReactNode
}

/** A form in a dialog. It stays open while it is sent, and says there why that failed. */
export function AskDialog({ title, submit, action, isDanger, onClose, children }: AskDialogProps) {
  const send = (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault()
    action.mutate(new FormData(event.currentTarget))
  }
  return (
    <Dialog title={title} onClose={onClose}>
      <form onSubmit={send}>
        {children}
        {action.error !== null && (
          <p className="notice bad" role="alert">
            {textOf(action.error)}
          </p>
        )}
        <div className="actions">
          <button type="submit" className={isDanger ? 'danger' : 'primary'} disabled={action.isPending}>
            {action.isPending ? 'Working…' : submit}
          </button>
          <button type="button" onClick={onClose}>
            Cancel
          </button>
        </div>
      </form>
    </Dialog>
  )
}

/** The text of a field, without spaces around it. */
export const fieldOf = (form: FormData, name: string): string => String(form.get(name) ?? '').trim()
