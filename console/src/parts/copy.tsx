import type { ReactNode } from 'react'
import { useSay } from './messages.tsx'

interface CopyProps {
  readonly text: string
  /** What is said when it is copied. */
  readonly done?: string
  readonly children: ReactNode
}

/** Copies a text, and says whether the browser lets it. */
export function useCopy() {
  const say = useSay()
  return async (text: string, done: string) => {
    try {
      await navigator.clipboard.writeText(text)
      say(done)
    } catch {
      say('The browser does not let this page copy. Select the text and copy it by hand.', true)
    }
  }
}

/** A button that copies a text. */
export function Copy({ text, done = 'Copied.', children }: CopyProps) {
  const copy = useCopy()
  return (
    <button type="button" onClick={() => copy(text, done)}>
      {children}
    </button>
  )
}
