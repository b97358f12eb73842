import { randomBytes } from 'node:crypto'
import type { Database } from '@backoffice/postgres/database.ts'
import type { Component } from '@backoffice/runtime/component.ts'
import type { Logger } from '@backoffice/runtime/logger.ts'
import { openSecret, type SecretKeys, sealSecret, unknownKeys } from '@backoffice/secrets/secret-box.ts'
import { nameOf } from '../apps/app-row.ts'
import type { ClaimedCall } from './claim-calls.ts'
import type { NewAppKey } from './platform-client.ts'

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

/**
 * Logs an error at the start when secrets of calls are sealed with keys that this process was not given. It starts all
 * the same: these calls wait, and the others go on (OP-107).
 */
export const reportUnknownKeys = (worker: Database, keys: SecretKeys, logger: Logger): Component => ({
  name: 'secret keys of calls',
  async start() {
    const used = await worker.sql<{ id: string }[]>`
      select distinct sealed_with as id from call where sealed_with is not null`
    const ids = used.map(({ id }) => id)
    const err = unknownKeys('APP_SECRET_KEYS', ids, keys)
    if (err !== undefined) logger.error({ err }, 'calls to apps wait for their keys')
  },
})
