import { type FormEvent, type ReactNode, useEffect, useRef } from 'react'
import type { Scope } from '../../../libs/contracts/src/scopes.ts'
import { ApiFailure, isSignedOut } from '../api/failure.ts'
import { isAnswered, randomId } from '../api/write-keys.ts'
import { OpenButton, useAction } from './action.tsx'
import { Dialog } from './dialog.tsx'
import { Refusal } from './page.tsx'

interface FormProps<Result> {
  readonly title: string
  /** The button that sends. */
  readonly submit: string
  readonly isDanger?: boolean
  /** What is said when it is done. */
  readonly done: string | ((result: Result) => string)
  readonly changes?: readonly string[]
  /** Comes when the form is closed. */
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
  const { title, submit, isDanger, send, onClose, onDone, children, ...said } = props
  const isDone = (result: Result) => {
    onClose()
    return onDone?.(result)
  }
  const action = useAction(send, { ...said, showsFailures: true, onDone: onDone && isDone })
  // What comes next, such as a key that is shown once, comes at once. Without that, it closes when the page is read
  // anew, so that the next form begins with what is so now.
  const onSubmit = submitted((form) => action.mutate(form, onDone ? {} : { onSuccess: onClose }))
  return (
    <Dialog title={title} onClose={onClose}>
      <form onSubmit={onSubmit}>
        {children}
        <FormEnd
          submit={submit}
          isDanger={isDanger}
          isBusy={action.isPending}
          refusal={action.error}
          onClose={onClose}
        />
      </form>
    </Dialog>
  )
}

interface FormEndProps {
  readonly submit: string
  readonly isDanger?: boolean | undefined
  readonly isBusy: boolean
  readonly disabled?: boolean
  /** What was refused. */
  readonly refusal: unknown
  readonly onClose?: (() => void) | undefined
  /** Further buttons. */
  readonly children?: ReactNode
}

/** What each form ends with: why it was refused, the button that sends it, and the way out. */
export const FormEnd = ({ submit, isDanger, isBusy, disabled, refusal, onClose, children }: FormEndProps) => (
  <>
    {/* The login has come in between: there is nothing to say any more. */}
    <Refusal of={!isSignedOut(refusal) && refusal} />
    <div className="actions">
      <button
        type="submit"
        className={isDanger ? 'danger' : 'primary'}
        aria-busy={isBusy}
        disabled={isBusy || disabled}
      >
        {isBusy ? 'Working…' : submit}
      </button>
      {children}
      {onClose && (
        <button type="button" disabled={isBusy} onClick={onClose}>
          Cancel
        </button>
      )}
    </div>
  </>
)

interface FormButtonProps<Result> extends FormProps<Result> {
  readonly needs?: Scope
  /** What the button says; the title unless given. */
  readonly label?: string
  readonly className?: string
  /** What the page shows of what this form has written before. */
  readonly shown?: unknown
  /**
   * As in `FormDialog`. `once` stays the same until the API has answered, also when the form is opened again while the
   * page still shows the same.
   */
  readonly send: (form: FormData, once: string) => Promise<Result>
}

/** A button that opens a form. */
export function FormButton<Result>({ needs, label, className, shown, send, ...form }: FormButtonProps<Result>) {
  const once = useRef(newReference())
  const now = useRef(shown)
  const whenSent = useRef(shown)
  useEffect(() => {
    now.current = shown
  }, [shown])
  const sendOnce = async (data: FormData) => {
    whenSent.current = now.current
    try {
      const result = await send(data, once.current)
      once.current = newReference()
      return result
    } catch (error) {
      if (error instanceof ApiFailure && isAnswered(error.status)) once.current = newReference()
      throw error
    }
  }
  const open = (close: () => void) => {
    // The page shows what had no answer: what is sent next is another one.
    if (whenSent.current !== now.current) once.current = newReference()
    return <FormDialog {...form} send={sendOnce} onClose={close} />
  }
  return (
    <OpenButton needs={needs} className={className} opens={open}>
      {label ?? form.title}
    </OpenButton>
  )
}

/** Takes what somebody submits in a form of this page. */
export const submitted = (take: (form: FormData) => unknown) => (event: FormEvent<HTMLFormElement>) => {
  event.preventDefault()
  take(new FormData(event.currentTarget))
}

/** The text of a field, without spaces around it. */
export const fieldOf = (form: FormData, name: string): string => String(form.get(name) ?? '').trim()

const OURS = 'console-'

/** A name for what is asked for, which the API keeps beside it. */
const newReference = () => `${OURS}${randomId()}`

/** A reference that somebody gave; that of a form says nothing. */
export const givenReference = (reference: string | null) => (reference?.startsWith(OURS) ? null : reference)
