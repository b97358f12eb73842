import { PRODUCT_STATUSES, type ProductStatus } from '@backoffice/contracts/product.ts'
import type { Caller } from '@backoffice/http/internal-token.ts'
import type { Sql } from '@backoffice/postgres/database.ts'
import type { RateLimit } from '../rate-limit/token-bucket.ts'

/** What a request with a key may do, and how fast. */
export interface KnownKey {
  /** What the services are told. */
  readonly caller: Caller
  /** The workspace's own limit; null: the deployment's. */
  readonly rateLimit: RateLimit | null
  /** From when on the key is refused; null: from nowhere near. */
  readonly revokedAt: Date | null
}

interface KeyRow {
  id: string
  workspace_id: string
  livemode: boolean
  scopes: string[]
  revoked_at: Date | null
  product_statuses: ProductStatus[] | null
  rate_limit_per_second: number | null
  rate_limit_burst: number | null
}

/** Looks a key up by its hash, with its workspace's settings. `worker` reads across workspaces. */
export async function findKey(worker: Sql, hash: string): Promise<KnownKey | undefined> {
  const [row] = await worker<KeyRow[]>`
    select api_key.id, api_key.workspace_id, workspace.livemode, api_key.scopes, api_key.revoked_at,
      settings.product_statuses, settings.rate_limit_per_second, settings.rate_limit_burst
    from api_key
    join workspace on workspace.id = api_key.workspace_id
    left join settings on settings.workspace_id = api_key.workspace_id
    where api_key.key_hash = ${Buffer.from(hash, 'hex')}`
  return row && knownKey(row)
}

function knownKey(row: KeyRow): KnownKey {
  const { rate_limit_per_second: perSecond, rate_limit_burst: burst } = row
  return {
    caller: {
      workspaceId: row.workspace_id,
      livemode: row.livemode,
      keyId: row.id,
      scopes: row.scopes,
      productStatuses: row.product_statuses ?? [...PRODUCT_STATUSES],
    },
    rateLimit: perSecond === null || burst === null ? null : { perSecond, burst },
    revokedAt: row.revoked_at,
  }
}
