import { type FormEvent, useState } from 'react'
import { api, bodyOf } from '../api/client.ts'
import { Act, useAction } from '../parts/action.tsx'
import { Copy } from '../parts/copy.tsx'
import { Dialog } from '../parts/dialog.tsx'

/** A secret that only one answer of the API has: it is not found again. */
export const ShownOnce = ({ secret }: { readonly secret: string }) => (
  <div className="notice">
    <h2>Copy the signing secret now</h2>
    <p>It is shown only this once. Your server checks with it that a delivery comes from here.</p>
    <code className="long">{secret}</code>
    <Copy text={secret} done="The secret is copied.">
      Copy the secret
    </Copy>
  </div>
)

const DAY = 86_400
const OVERLAPS = [
  [DAY, 'in 24 hours: put the new one in place meanwhile'],
  [3600, 'in an hour'],
  [0, 'at once: it has leaked'],
] as const

/** Replaces the secret of an endpoint; the old one signs beside the new one for a while. */
export function RotateSecret({ endpoint }: { readonly endpoint: string }) {
  const [isOpen, setIsOpen] = useState(false)
  const rotate = useAction(
    (overlap_seconds: number) =>
      bodyOf(
        api.POST('/v1/webhooks/{id}/secret/rotate', { params: { path: { id: endpoint } }, body: { overlap_seconds } }),
      ),
    { done: 'The endpoint has a new secret.' },
  )
  const submit = (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault()
    rotate.mutate(Number(new FormData(event.currentTarget).get('overlap')))
  }
  const close = () => {
    setIsOpen(false)
    // The secret leaves the memory of the page.
    rotate.reset()
  }
  return (
    <>
      <Act needs="webhook::create" onAct={() => setIsOpen(true)}>
        Rotate the secret…
      </Act>
      {isOpen && (
        <Dialog title={rotate.data ? 'The new secret' : 'Replace the secret?'} onClose={close}>
          {rotate.data ? (
            <>
              <ShownOnce secret={rotate.data.secret} />
              <div className="actions">
                <button type="button" onClick={close}>
                  I have it
                </button>
              </div>
            </>
          ) : (
            <form onSubmit={submit}>
              <label>
                The old secret ends
                <select name="overlap">
                  {OVERLAPS.map(([seconds, words]) => (
                    <option key={seconds} value={seconds}>
                      {words}
                    </option>
                  ))}
                </select>
              </label>
              <div className="actions">
                <button type="button" onClick={close}>
                  Cancel
                </button>
                <button type="submit" className="primary" disabled={rotate.isPending}>
                  Rotate
                </button>
              </div>
            </form>
          )}
        </Dialog>
      )}
    </>
  )
}
