import { useState } from 'react'
import { textOf } from '../api/failure.ts'
import { fieldOf, submitted } from '../parts/form-dialog.tsx'
import type { Attempt } from './attempt.tsx'
import { headerOf, isSignedBy } from './signature.ts'

type Verdict = 'right' | 'wrong' | Error

/** Checks the signature of an attempt with a secret that is pasted. The secret stays in this page. */
export function VerifySignature({ attempt: { number, request } }: { readonly attempt: Attempt }) {
  const [verdict, setVerdict] = useState<Verdict>()
  const verify = submitted((form) =>
    isSignedBy(fieldOf(form, 'secret'), request).then((isRight) => setVerdict(isRight ? 'right' : 'wrong'), setVerdict),
  )
  if (!globalThis.crypto?.subtle) return <p>The browser checks signatures on pages that come over https only.</p>
  if (request.truncated) return <p>The body of this attempt is too long to be kept, so its signature is not checked.</p>
  return (
    <form onSubmit={verify}>
      <p className="quiet">
        Attempt {number} has the signature{' '}
        <code className="long">{headerOf(request.headers, 'webhook-signature')}</code>
      </p>
      <label>
        Secret of the endpoint
        <input
          name="secret"
          type="password"
          required
          autoComplete="off"
          spellCheck={false}
          placeholder="whsec_…"
          onChange={() => setVerdict(undefined)}
        />
      </label>
      <p className="quiet">It is used in this page only and sent nowhere.</p>
      <div className="actions">
        <button type="submit">Check</button>
      </div>
      <div role="status">
        {verdict === 'right' && <p className="notice good">The signature is right: this secret made it.</p>}
        {verdict === 'wrong' && (
          <p className="notice bad">
            Another secret made this signature, or the customer of the event was erased since. If the secret was
            rotated, take the newest one.
          </p>
        )}
        {verdict instanceof Error && <p className="notice bad">{textOf(verdict)}</p>}
      </div>
    </form>
  )
}
