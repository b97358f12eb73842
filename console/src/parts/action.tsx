import { useMutation, useQueryClient } from '@tanstack/react-query'
import { type ComponentProps, createContext, type ReactNode, use, useCallback, useRef, useState } from 'react'
import type { Scope } from '../../../libs/contracts/src/scopes.ts'
import { ApiFailure, textOf } from '../api/failure.ts'
import { useCan } from '../session/session.ts'
import { Question, useOpenDialog } from './dialog.tsx'

interface Message {
  readonly id: number
  readonly text: string
  readonly isBad: boolean
}

const Say = createContext<(text: string, isBad?: boolean) => void>(() => undefined)
const SHOWN_MS = 6000
let lastId = 0

/** Says in the corner what was done. Failures stay until they are closed. */
export function Messages({ children }: { readonly children: ReactNode }) {
  const [messages, setMessages] = useState<readonly Message[]>([])
  const close = useCallback((id: number) => setMessages((shown) => shown.filter((one) => one.id !== id)), [])
  const say = useCallback(
    (text: string, isBad = false) => {
      lastId += 1
      const message = { id: lastId, text, isBad }
      setMessages((shown) => [...shown.slice(-2), message])
      if (!isBad) setTimeout(() => close(message.id), SHOWN_MS)
    },
    [close],
  )
  return (
    <Say value={say}>
      {children}
      <div className="messages" aria-live="polite">
        {messages.map(({ id, text, isBad }) => (
          <div key={id} className={isBad ? 'message bad' : 'message'} role={isBad ? 'alert' : 'status'}>
            <span className="long">{text}</span>
            <button type="button" className="plain" aria-label="Close" onClick={() => close(id)}>
              ✕
            </button>
          </div>
        ))}
      </div>
    </Say>
  )
}

interface ActionOptions<Result> {
  /** What is said when it is done. */
  readonly done: string | ((result: Result) => string)
  /** First words of the keys of queries that read anew: `['deliveries']`. */
  readonly changes?: readonly string[] | undefined
  /** Comes first: a page that it leaves is not read anew. */
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
  const say = use(Say)
  const readAnew = () => Promise.all(changes.map((name) => queries.invalidateQueries({ queryKey: [name] })))
  // The second click of a double click comes before the first one has disabled the button.
  const isSending = useRef(false)
  const action = useMutation({
    mutationFn: act,
    async onSuccess(result) {
      say(typeof done === 'function' ? done(result) : done)
      await onDone?.(result)
      await readAnew()
    },
    onError(error) {
      if (!showsFailures) say(textOf(error), true)
      // Somebody else was faster: the page shows what is so now.
      if (error instanceof ApiFailure && [404, 409, 412].includes(error.status)) void readAnew()
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
  const isAllowed = needs === undefined || can(needs)
  const ask = (title: string) =>
    open((close) => <Question title={title} yes={children} onYes={onAct} onClose={close} />)
  return (
    <button
      type="button"
      {...further}
      disabled={disabled || isBusy || !isAllowed}
      title={isAllowed ? further.title : `This session lacks the scope ${needs}`}
      onClick={() => (question ? ask(question) : onAct())}
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
  const { isPending, mutate } = useAction(act, { done, changes, onDone })
  return <Act {...button} isBusy={isPending} onAct={mutate} />
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

export const useSay = () => use(Say)
