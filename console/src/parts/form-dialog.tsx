import { type FormEvent, type ReactNode, useRef, useState } from 'react'
import type { Scope } from '../../../libs/contracts/src/scopes.ts'
import { ApiFailure, textOf } from '../api/failure.ts'
import { isAnswered, randomId } from '../api/write-keys.ts'
import { Act, useAction } from './action.tsx'
import { Dialog } from './dialog.tsx'

interface FormProps<Result> {
  readonly title: string
  /** The button that sends. */
  readonly submit: string
  readonly isDanger?: boolean
  /** What is said when it is done. */
  readonly done: string | ((result: Result) => string)
  readonly changes?: readonly string[]
  readonly onDone?: (result: Result) => unknown
  readonly children: ReactNode
}

interface FormDialogProps<Result> extends FormProps<Result> {
  /** Sends what the form has. What it throws is shown in the form. */
  readonly send: (form: FormData) => Promise<Result>
  readonly onClose: () => void
}

/** A form in a dialog. It closes when what it asked for is done, and stays with the reason when it is not. */
export function FormDialog<Result>(props: FormDialogProps<Result>) {
  const { title, submit, isDanger = false, send, onClose, children, ...said } = props
  const action = useAction(send, { ...said, showsFailures: true })
  // The second click of a double click comes before the first one has disabled the button.
  const isSending = useRef(false)
  const onSubmit = async (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault()
    if (isSending.current) return
    isSending.current = true
    // It closes when the page is read anew, so that the next form begins with what is so now.
    await action.mutateAsync(new FormData(event.currentTarget)).then(onClose, () => undefined)
    isSending.current = false
  }
  return (
    <Dialog title={title} onClose={onClose}>
      <form onSubmit={onSubmit}>
        {children}
        {action.isError && (
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

interface FormButtonProps<Result> extends FormProps<Result> {
  readonly needs: Scope
  readonly className?: string
  readonly onOpen?: () => void
  /** As in `FormDialog`. `once` stays the same until the API has answered, also when the form is opened again. */
  readonly send: (form: FormData, once: string) => Promise<Result>
}

/** A button that opens a form. */
export function FormButton<Result>({ needs, className, onOpen, send, ...form }: FormButtonProps<Result>) {
  const [isOpen, setIsOpen] = useState(false)
  const [once, setOnce] = useState(newReference)
  const open = () => {
    onOpen?.()
    setIsOpen(true)
  }
  const sendOnce = async (data: FormData) => {
    try {
      const result = await send(data, once)
      setOnce(newReference)
      return result
    } catch (error) {
      if (error instanceof ApiFailure && isAnswered(error.status)) setOnce(newReference)
      throw error
    }
  }
  return (
    <>
      <Act needs={needs} className={className} onAct={open}>
        {form.title}
      </Act>
      {isOpen && <FormDialog {...form} send={sendOnce} onClose={() => setIsOpen(false)} />}
    </>
  )
}

/** The text of a field, without spaces around it. */
export const fieldOf = (form: FormData, name: string): string => String(form.get(name) ?? '').trim()

const OURS = 'console-'

/** A name for what is asked for, which the API keeps beside it. */
const newReference = () => `${OURS}${randomId()}`

/** A reference that somebody gave; that of a form says nothing. */
export const givenReference = (reference: string | null) => (reference?.startsWith(OURS) ? null : reference)
