import { randomBytes } from 'node:crypto'
import { openSecret, type SecretKeys, sealSecret } from '@backoffice/secrets/secret-box.ts'
import { nameOf } from '../apps/app-row.ts'
import type { NewAppKey } from '../platform/platform-client.ts'
import type { ClaimedCall } from './claim-calls.ts'

const SECRET_BYTES = 32

/** 32 random bytes for a key or a webhook secret, sealed for one installation. */
export const newSealedSecret = (keys: SecretKeys, workspaceId: string, installationId: string) =>
  sealSecret(keys, randomBytes(SECRET_BYTES), ownerOf(workspaceId, installationId))

/** The key that a call delivers; undefined for a call that delivers none. */
export function keyOf(keys: SecretKeys, call: ClaimedCall): NewAppKey | undefined {
  const { keyId, keySecret, manifest } = call
  if (keyId === null || keySecret === null || manifest === null) return undefined
  return { id: keyId, secret: open(keys, call, keySecret), name: nameOf(manifest), scopes: manifest.scopes }
}

/** The signing secret that a call delivers: `whsec_` and base64; undefined for a call that delivers none. */
export const webhookSecretOf = (keys: SecretKeys, call: ClaimedCall): string | undefined =>
  call.webhookSecret === null ? undefined : `whsec_${open(keys, call, call.webhookSecret).toString('base64')}`

function open(keys: SecretKeys, { context, installationId, sealedWith }: ClaimedCall, sealed: Buffer): Buffer {
  return openSecret(keys, { keyId: sealedWith ?? '', sealed }, ownerOf(context.workspaceId, installationId))
}

const ownerOf = (workspaceId: string, installationId: string) => `${workspaceId} ${installationId}`
