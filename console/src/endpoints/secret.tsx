import { useState } from 'react'
import { api, bodyOf } from '../api/client.ts'
import { FormButton, fieldOf } from '../parts/form-dialog.tsx'
import { ShownOnce } from '../parts/shown-once.tsx'

const DAY = 86_400
const OVERLAPS = [
  [DAY, 'in 24 hours: put the new one in place meanwhile'],
  [3600, 'in an hour'],
  [0, 'at once: it has leaked'],
] as const

/** Replaces the secret of an endpoint; the old one signs beside the new one for a while. */
export function RotateSecret({ endpoint: id }: { readonly endpoint: string }) {
  const [secret, setSecret] = useState<string>()
  return (
    <>
      <FormButton
        needs="webhook::create"
        title="Rotate the secret"
        submit="Rotate"
        done="The endpoint has a new secret."
        send={(form) => {
          const body = { overlap_seconds: Number(fieldOf(form, 'overlap')) }
          return bodyOf(api.POST('/v1/webhooks/{id}/secret/rotate', { params: { path: { id } }, body }))
        }}
        onDone={(rotated) => setSecret(rotated.secret)}
      >
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
      </FormButton>
      {secret && <ShownOnce title="The new secret" secret={secret} onClose={() => setSecret(undefined)} />}
    </>
  )
}
