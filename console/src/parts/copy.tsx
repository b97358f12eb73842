import type { ReactNode } from 'react'
import { useSay } from './action.tsx'

interface CopyProps {
  readonly text: string
  /** What is said when it is copied. */
  readonly done?: string
  readonly children: ReactNode
}

/** A button that copies a text. */
export function Copy({ text, done = 'Copied.', children }: CopyProps) {
  const say = useSay()
  const copy = async () => {
    try {
      await navigator.clipboard.writeText(text)
      say(done)
    } catch {
      say('The browser does not let this page copy. Select the text and copy it by hand.', true)
    }
  }
  return (
    <button type="button" onClick={copy}>
      {children}
    </button>
  )
}
