import { Copy } from './copy.tsx'
import { Dialog } from './dialog.tsx'

interface ShownOnceProps {
  readonly title: string
  readonly secret: string
  readonly onClose: () => void
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
