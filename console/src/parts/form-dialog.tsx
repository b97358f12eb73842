import { type FormEvent, type ReactNode, useRef, useState } from 'react'
import type { Scope } from '../../../libs/contracts/src/scopes.ts'
import { randomId } from '../api/client.ts'
import { ApiFailure, textOf } from '../api/failure.ts'
import { Act, useAction } from './action.tsx'
import { Dialog } from './dialog.tsx'

interface FormDialogProps<Result> {
  readonly needs: Scope
  /** The words on the button, and above the form. */
  readonly title: string
  readonly className?: string | undefined
  /** What is said when it is done. */
  readonly done: string | ((result: Result) => string)
  readonly changes: readonly string[]
  /** The button that sends. */
  readonly submit: string
  /**
   * Sends what the form has. `once` stays the same until the API has answered, so that what is sent again is done once.
   * What it throws is shown in the form.
   */
  readonly send: (form: FormData, once: string) => Promise<Result>
  readonly children: ReactNode
}

/** A button that opens a form. It closes when what it asked for is done, and stays with the reason when it is not. */
export function FormDialog<Result>({ needs, title, className, ...form }: FormDialogProps<Result>) {
  const [isOpen, setIsOpen] = useState(false)
  return (
    <>
      <Act needs={needs} className={className} onAct={() => setIsOpen(true)}>
        {title}
      </Act>
      {isOpen && (
        <Dialog title={title} onClose={() => setIsOpen(false)}>
          <OpenForm {...form} close={() => setIsOpen(false)} />
        </Dialog>
      )}
    </>
  )
}

type OpenFormProps<Result> = Omit<FormDialogProps<Result>, 'needs' | 'title' | 'className'> & {
  readonly close: () => void
}

function OpenForm<Result>({ done, changes, submit, send, children, close }: OpenFormProps<Result>) {
  const once = useRef(newReference())
  // The second click of a double click comes before the first one has disabled the button.
  const isSending = useRef(false)
  const action = useAction((form: FormData) => send(form, once.current), {
    done,
    changes,
    showsFailures: true,
  })
  const onSubmit = async (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault()
    if (isSending.current) return
    isSending.current = true
    const form = new FormData(event.currentTarget)
    // It closes when the page is read anew, so that the next form begins with what is so now.
    await action.mutateAsync(form).then(close, (error) => {
      if (isAnswer(error)) once.current = newReference()
    })
    isSending.current = false
  }
  return (
    <form onSubmit={onSubmit} noValidate>
      {children}
      {action.isError && (
        <p className="notice bad" role="alert">
          {textOf(action.error)}
        </p>
      )}
      <div className="actions">
        <button type="submit" className="primary" disabled={action.isPending}>
          {action.isPending ? 'Working…' : submit}
        </button>
        <button type="button" onClick={close}>
          Cancel
        </button>
      </div>
    </form>
  )
}

/** Whether the API has refused, so that nothing was done. */
const isAnswer = (error: unknown) => error instanceof ApiFailure && error.status < 500

const OURS = 'console-'

/** A name for what is asked for, which the API keeps beside it. */
const newReference = () => `${OURS}${randomId()}`

/** A reference that somebody gave; that of a form says nothing. */
export const givenReference = (reference: string | null) => (reference?.startsWith(OURS) ? null : reference)
