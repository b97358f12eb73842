import { useMutation, useQueryClient } from '@tanstack/react-query'
import { type ComponentProps, type ReactNode, useInsertionEffect, useRef } from 'react'
import type { Scope } from '../../../libs/contracts/src/scopes.ts'
import { leavesOldBehind, sentTextOf } from '../api/failure.ts'
import { withOneReason } from '../session/reasons.ts'
import { useCan } from '../session/session.ts'
import { Question, useOpenDialog } from './dialog.tsx'
import { useSay } from './messages.tsx'

interface ActionOptions<Result> {
  /** What is said when it is done. */
  readonly done: string | ((result: Result) => string)
  /** First words of the keys of queries that read anew: `['deliveries']`. */
  readonly changes?: readonly string[] | undefined
  /** Comes first: a page that it leaves is not read anew. Not once what acts is gone, such as a page that was left. */
  readonly onDone?: ((result: Result) => unknown) | undefined
  /** Its caller shows failures where they belong, such as in the dialog that is open. */
  readonly showsFailures?: boolean
}

/** An act on the API: says how it went, and lets what it has changed be read anew. */
export function useAction<Input = void, Result = unknown>(
  act: (input: Input) => Promise<Result>,
  { done, changes = [], onDone, showsFailures = false }: ActionOptions<Result>,
) {
  const queries = useQueryClient()
  const say = useSay()
  const readAnew = () => Promise.all(changes.map((name) => queries.invalidateQueries({ queryKey: [name] })))
  // The second click of a double click comes before the first one has disabled the button.
  const isSending = useRef(false)
  const isThere = useIsThere()
  const action = useMutation({
    mutationFn: (input: Input) => withOneReason(() => act(input)),
    async onSuccess(result) {
      say(typeof done === 'function' ? done(result) : done)
      if (isThere.current) await onDone?.(result)
      await readAnew()
    },
    onError(error) {
      if (!showsFailures) say(sentTextOf(error), true)
      if (leavesOldBehind(error)) void readAnew()
    },
    onSettled() {
      isSending.current = false
    },
  })
  const mutate: typeof action.mutate = (...sent) => {
    if (isSending.current) return
    isSending.current = true
    action.mutate(...sent)
  }
  return { ...action, mutate }
}

/** Whether what has this is rendered. It is, too, while the page is hidden behind the login: other effects end then. */
function useIsThere() {
  const isThere = useRef(false)
  useInsertionEffect(() => {
    isThere.current = true
    return () => {
      isThere.current = false
    }
  }, [])
  return isThere
}

interface ActProps extends Omit<ComponentProps<'button'>, 'onClick'> {
  /** The scope that the act needs. Without it the button says so. Operators may do everything. */
  readonly needs?: Scope | undefined
  readonly isBusy?: boolean
  readonly onAct: () => void
  /** Asks first, with this question, since the act cannot be taken back. */
  readonly question?: string | undefined
}

/** A button that does something, for those who may. */
export function Act({ needs, isBusy = false, onAct, question, children, disabled, ...further }: ActProps) {
  const can = useCan()
  const open = useOpenDialog()
  const say = useSay()
  const lacking = needs === undefined || can(needs) ? undefined : `This session lacks the scope ${needs}`
  const ask = (title: string) =>
    open((close) => <Question title={title} yes={children} onYes={onAct} onClose={close} />)
  return (
    <button
      type="button"
      {...further}
      // Without the scope it can be reached, and describes itself.
      disabled={lacking === undefined && (disabled || isBusy)}
      aria-disabled={lacking !== undefined || undefined}
      title={lacking ?? further.title}
      onClick={() => (lacking ? say(lacking, true) : question ? ask(question) : onAct())}
    >
      {isBusy ? 'Working…' : children}
    </button>
  )
}

interface ApiActProps<Result> extends Omit<ActProps, 'isBusy' | 'onAct'>, Omit<ActionOptions<Result>, 'showsFailures'> {
  readonly act: () => Promise<Result>
}

/** A button with its act on the API. */
export function ApiAct<Result>({ act, done, changes, onDone, ...button }: ApiActProps<Result>) {
  // What somebody was asked about, also when the page behind the question is read again.
  const { isPending, mutate } = useAction((asked: typeof act) => asked(), { done, changes, onDone })
  return <Act {...button} isBusy={isPending} onAct={() => mutate(act)} />
}

interface OpenButtonProps extends Omit<ActProps, 'onAct'> {
  readonly opens: (close: () => void) => ReactNode
}

/** A button that opens a dialog, until that is closed. */
export function OpenButton({ opens, ...button }: OpenButtonProps) {
  const open = useOpenDialog()
  return <Act {...button} onAct={() => open(opens)} />
}

/** A count in words: `3 deliveries`. */
export const counted = (count: number, one: string, many = `${one}s`): string =>
  `${count.toLocaleString()} ${count === 1 ? one : many}`
