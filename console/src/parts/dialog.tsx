import { useBlocker, useRouterState } from '@tanstack/react-router'
import {
  createContext,
  Fragment,
  type ReactNode,
  type RefObject,
  use,
  useCallback,
  useEffect,
  useId,
  useRef,
  useState,
} from 'react'
import { flushSync } from 'react-dom'
import { useSayIn } from './messages.tsx'

type Opens = (close: () => void) => ReactNode

const OpenDialog = createContext<(opens: Opens) => void>(() => undefined)
let lastId = 0

/**
 * The dialogs of a page, until it is left. They are the page's and not of what opens them: a row or a button that goes
 * when the page is read again takes nothing along that somebody types.
 */
export function Dialogs({ children }: { readonly children: ReactNode }) {
  const [opened, setOpened] = useState<readonly { readonly id: number; readonly dialog: ReactNode }[]>([])
  const here = useRouterState({ select: ({ location }) => location.href })
  const [openedAt, setOpenedAt] = useState(here)
  if (openedAt !== here) {
    setOpenedAt(here)
    setOpened([])
  }
  const open = useCallback((opens: Opens) => {
    lastId += 1
    const id = lastId
    // At once: what follows, such as the way to another page, finds nothing unsaved any more.
    const close = () => flushSync(() => setOpened((before) => before.filter((one) => one.id !== id)))
    const dialog = opens(close)
    setOpened((before) => [...before, { id, dialog }])
  }, [])
  return (
    <OpenDialog value={open}>
      {children}
      {opened.map(({ id, dialog }) => (
        <Fragment key={id}>{dialog}</Fragment>
      ))}
    </OpenDialog>
  )
}

/** Opens a dialog over the page. It shows what was so when it was opened. */
export const useOpenDialog = () => use(OpenDialog)

/** What is used first in a dialog: not the way out of it. */
const FIRST = ':is(input:not([type=hidden]), select, textarea, .actions button):not(:disabled)'

/** The button of a form that is being sent. */
const SENDING = '[type=submit][aria-busy=true]'

interface DialogProps {
  readonly title: string
  /** Without it only what is in it closes it, and whoever leaves the page is asked first. */
  readonly onClose?: () => void
  readonly children: ReactNode
}

/**
 * A dialog over the page. Escape closes it, but not while its form is sent, and asks first when something was typed into
 * it; the focus is in its first field, stays in it, then goes back. It is open while it is rendered.
 */
export function Dialog({ title, onClose, children }: DialogProps) {
  const dialog = useRef<HTMLDialogElement>(null)
  const heading = useId()
  const [question, leave] = useUnsaved(dialog, onClose === undefined)
  const close = () => {
    if (onClose && !dialog.current?.querySelector(SENDING)) leave(onClose)
  }
  const isShown = useRef(false)
  const sayIn = useSayIn()
  useEffect(() => {
    const [opener, shown] = [document.activeElement, dialog.current]
    isShown.current = true
    shown?.showModal()
    shown?.querySelector<HTMLElement>(FIRST)?.focus()
    const stop = shown && sayIn(shown)
    return () => {
      // The page is left, or hidden behind the login.
      isShown.current = false
      stop?.()
      shown?.close()
      if (opener instanceof HTMLElement) opener.focus({ preventScroll: true })
    }
  }, [sayIn])
  return (
    <>
      <dialog
        ref={dialog}
        aria-labelledby={heading}
        onCancel={(event) => {
          event.preventDefault()
          close()
        }}
        // A browser closes it nevertheless when Escape is pressed again and again.
        onClose={() => {
          if (!isShown.current || dialog.current?.open) return
          dialog.current?.showModal()
          close()
        }}
      >
        <header className="head">
          <h2 id={heading}>{title}</h2>
          {onClose && (
            <button type="button" className="plain" aria-label="Close" onClick={close}>
              ✕
            </button>
          )}
        </header>
        {children}
      </dialog>
      {question}
    </>
  )
}

interface QuestionProps {
  readonly title: string
  readonly children?: ReactNode
  /** The button that does it, and the one that does not. */
  readonly yes: ReactNode
  readonly no?: string
  readonly onYes: () => void
  readonly onClose: () => void
}

/** Asks before what cannot be taken back. */
export const Question = ({ title, children, yes, no = 'Cancel', onYes, onClose }: QuestionProps) => (
  <Dialog title={title} onClose={onClose}>
    {children}
    <div className="actions">
      <button type="button" onClick={onClose}>
        {no}
      </button>
      <button
        type="button"
        className="danger"
        onClick={() => {
          onYes()
          onClose()
        }}
      >
        {yes}
      </button>
    </div>
  </Dialog>
)

const SHOWN_ONCE = {
  title: 'Leave the page without it?',
  children: <p>What is shown here is not shown again.</p>,
  yes: 'Leave',
  no: 'Stay',
}
const IS_SENT = {
  title: 'Leave before the answer?',
  children: <p>What you have sent may be done nevertheless. What the answer shows once, such as a key, is lost.</p>,
  yes: 'Leave',
  no: 'Stay',
}
const CHANGED = {
  title: 'Discard your changes?',
  children: <p>What you have changed here is not saved.</p>,
  yes: 'Discard',
  no: 'Keep editing',
}

/** Asks whoever signs out whether to discard what is not saved. */
export const Discard = (does: Pick<QuestionProps, 'onYes' | 'onClose'>) => <Question {...CHANGED} {...does} />

type Asked = Pick<QuestionProps, 'title' | 'children' | 'yes' | 'no'>

/** What is in the forms below an element. An empty field is as one that is not there. */
const typedIn = (within: HTMLElement | null): string =>
  JSON.stringify(
    [...(within?.querySelectorAll('form') ?? [])].flatMap((form) =>
      [...new FormData(form)].filter(([, value]) => value !== ''),
    ),
  )

/**
 * Asks whoever leaves, in any way, whether to discard what the forms below an element have by now, what is shown only
 * once there, or the answer to what is being sent.
 */
function useUnsaved(
  within: RefObject<HTMLElement | null>,
  isShownOnce = false,
): [ReactNode, (leave: () => void) => void] {
  const before = useRef<string>(undefined)
  const [leaving, setLeaving] = useState<{ readonly leave: () => void }>()
  const [asked, setAsked] = useState<Asked>(CHANGED)
  useEffect(() => {
    before.current ??= typedIn(within.current)
  }, [within])
  const whatIsLost = useCallback(() => {
    if (isShownOnce) return SHOWN_ONCE
    if (within.current?.querySelector(SENDING)) return IS_SENT
    return typedIn(within.current) === before.current ? undefined : CHANGED
  }, [isShownOnce, within])
  const isUnsaved = useCallback(() => {
    const lost = whatIsLost()
    if (lost) setAsked(lost)
    return lost !== undefined
  }, [whatIsLost])
  const elsewhere = useBlocker({ shouldBlockFn: isUnsaved, enableBeforeUnload: isUnsaved, withResolver: true })

  const ask = (onYes: () => void, onClose: () => void) => <Question {...asked} onYes={onYes} onClose={onClose} />
  const question =
    elsewhere.status === 'blocked'
      ? ask(elsewhere.proceed, elsewhere.reset)
      : leaving && ask(leaving.leave, () => setLeaving(undefined))
  return [question, (leave) => (isUnsaved() ? setLeaving({ leave }) : leave())]
}

/** Whether the page has what is not saved: it says so to the browser, which asks before it closes the page. */
export const hasUnsaved = (): boolean => !dispatchEvent(new Event('beforeunload', { cancelable: true }))

/** A form on a page: whoever goes to another page is asked first. */
export function Unsaved({ children }: { readonly children: ReactNode }) {
  const within = useRef<HTMLDivElement>(null)
  const [question] = useUnsaved(within)
  return (
    <>
      <div ref={within}>{children}</div>
      {question}
    </>
  )
}
