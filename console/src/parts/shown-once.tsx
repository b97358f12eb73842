import { useEffect, useState } from 'react'
import { Copy } from './copy.tsx'
import { Dialog } from './dialog.tsx'

interface ShownOnceProps {
  readonly title: string
  readonly secret: string
  readonly onClose: () => void
}

/** The secret to show, and how to set it. It is gone once the page is left, or hidden behind the login. */
export function useSecret() {
  const [secret, setSecret] = useState<string>()
  useEffect(() => () => setSecret(undefined), [])
  return [secret, setSecret] as const
}

/** A secret that nobody can read again later: Escape does not lose it. */
export const ShownOnce = ({ title, secret, onClose }: ShownOnceProps) => (
  <Dialog title={title}>
    <p>Copy it now to where it is used. It is not shown again.</p>
    <pre className="code">{secret}</pre>
    <div className="actions">
      <Copy text={secret}>Copy</Copy>
      <button type="button" className="primary" onClick={onClose}>
        Done
      </button>
    </div>
  </Dialog>
)
