import { api, bodyOf } from '../api/client.ts'
import { Options } from '../parts/filters.tsx'
import { FormButton, fieldOf } from '../parts/form-dialog.tsx'
import { ShownOnce, useSecret } from '../parts/shown-once.tsx'

const OVERLAPS = [
  ['86400', 'in 24 hours: put the new one in place meanwhile'],
  ['3600', 'in an hour'],
  ['0', 'at once: it has leaked'],
] as const

/** Replaces the secret of an endpoint; the old one signs beside the new one for a while. */
export function RotateSecret({ endpoint: id }: { readonly endpoint: string }) {
  const [secret, setSecret] = useSecret()
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
            <Options of={OVERLAPS} />
          </select>
        </label>
      </FormButton>
      {secret && <ShownOnce title="The new secret" secret={secret} onClose={() => setSecret(undefined)} />}
    </>
  )
}
