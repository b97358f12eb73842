import { openSecret, type SecretKeys } from '../secrets/secret-box.ts'
import { secretOwner } from '../secrets/signing-secret.ts'
import type { Signing, SigningKey } from '../sending/signature.ts'

/** An endpoint's row as far as it tells how deliveries are signed. */
export interface SigningRow {
  workspace_id: string
  id: string
  standard_signature: boolean
  secret_key_id: string
  sealed_secret: Buffer
  /** Secrets that were replaced, newest first: a rotation lets none before it end later. */
  previous: { keyId: string; sealed: string; endsAt: string }[]
}

/** How an endpoint's deliveries are signed, and what kept its secrets from opening. */
export interface OpenedSigning {
  /** Undefined when the current secret does not open. */
  readonly signing: Signing | undefined
  readonly failures: readonly unknown[]
}

/**
 * Opens an endpoint's secrets. One that was replaced and does not open signs no more; without the current one nothing could
 * be signed that a receiver has to accept (OP-107).
 */
export function openSigning(row: SigningRow, keys: SecretKeys): OpenedSigning {
  const failures: unknown[] = []
  const opened: SigningKey[] = sealedSecrets(row).flatMap(({ keyId, sealed, endsAt }) => {
    try {
      return [{ key: openSecret(keys, { keyId, sealed }, secretOwner(row.workspace_id, row.id)), endsAt }]
    } catch (error) {
      failures.push(error)
      return []
    }
  })
  const isCurrentOpen = opened[0]?.endsAt === null
  return { signing: isCurrentOpen ? { keys: opened, isStandardToo: row.standard_signature } : undefined, failures }
}

const sealedSecrets = (row: SigningRow) => [
  { keyId: row.secret_key_id, sealed: row.sealed_secret, endsAt: null },
  ...row.previous.map(({ keyId, sealed, endsAt }) => ({
    keyId,
    sealed: Buffer.from(sealed, 'base64'),
    endsAt: new Date(endsAt),
  })),
]
