import { createContext, type ReactNode, use, useMemo, useState } from 'react'
import { createPortal } from 'react-dom'

interface Message {
  readonly id: number
  readonly text: string
  readonly isBad: boolean
}

interface Sayer {
  readonly say: (text: string, isBad?: boolean) => void
  /** Shows messages in a dialog that opens, until what is returned is called. */
  readonly sayIn: (dialog: HTMLElement) => () => void
}

const Context = createContext<Sayer>({ say: () => undefined, sayIn: () => () => undefined })
const SHOWN_MS = 6000
let lastId = 0

/**
 * Says in the corner what was done. Failures stay until they are closed. While dialogs are open it is said in the
 * topmost one: nobody reads or closes what is outside of it.
 */
export function Messages({ children }: { readonly children: ReactNode }) {
  const [messages, setMessages] = useState<readonly Message[]>([])
  const [dialogs, setDialogs] = useState<readonly HTMLElement[]>([])
  const close = (id: number) => setMessages((shown) => shown.filter((one) => one.id !== id))
  const sayer = useMemo(
    () => ({
      say(text: string, isBad = false) {
        lastId += 1
        const message = { id: lastId, text, isBad }
        setMessages((shown) => [...shown.slice(-2), message])
        if (!isBad) setTimeout(() => setMessages((shown) => shown.filter((one) => one !== message)), SHOWN_MS)
      },
      sayIn(dialog: HTMLElement) {
        setDialogs((open) => [...open, dialog])
        return () => setDialogs((open) => open.filter((one) => one !== dialog))
      },
    }),
    [],
  )
  // Each has its list before there is something to say: readers of the screen say what is added to it.
  const list = (isTop: boolean) => (
    <div className="messages" aria-live="polite">
      {isTop &&
        messages.map(({ id, text, isBad }) => (
          <div key={id} className={isBad ? 'message bad' : 'message'} role={isBad ? 'alert' : 'status'}>
            <span className="long">{text}</span>
            <button type="button" className="plain" aria-label="Close" onClick={() => close(id)}>
              ✕
            </button>
          </div>
        ))}
    </div>
  )
  const top = dialogs.at(-1)
  return (
    <Context value={sayer}>
      {children}
      {list(top === undefined)}
      {dialogs.map((dialog, index) => createPortal(list(dialog === top), dialog, index))}
    </Context>
  )
}

export const useSay = () => use(Context).say

export const useSayIn = () => use(Context).sayIn
