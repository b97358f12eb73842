import { PRODUCT_STATUSES, type ProductStatus } from '@backoffice/contracts/product.ts'
import type { Caller } from '@backoffice/http/internal-token.ts'
import type { Sql } from '@backoffice/postgres/database.ts'
import type { RateLimit } from '../rate-limit/token-bucket.ts'

/** A key with the permissions and the rate limit of its requests. */
export interface KnownKey {
  /** The caller that the services see. */
  readonly caller: Caller
  /** The workspace's own limit; null for the deployment's. */
  readonly rateLimit: RateLimit | null
  /** The key is refused from then on; null when it is not revoked. */
  readonly revokedAt: Date | null
  /** Of the key's workspace: the key is refused meanwhile, or for good. */
  readonly isSuspended: boolean
  readonly isDeleted: boolean
}

type KeyRow = Omit<Caller, 'productStatuses'> & {
  productStatuses: ProductStatus[] | null
  perSecond: number | null
  burst: number | null
  revokedAt: Date | null
  isSuspended: boolean
  isDeleted: boolean
}

/** Looks a key up by its hash, with its workspace's settings. `worker` reads across workspaces. */
export async function findKey(worker: Sql, hash: string): Promise<KnownKey | undefined> {
  const [row] = await worker<KeyRow[]>`
    select api_key.id as "keyId", api_key.workspace_id as "workspaceId", workspace.livemode, api_key.scopes,
      settings.product_statuses as "productStatuses", settings.rate_limit_per_second as "perSecond",
      settings.rate_limit_burst as burst, api_key.revoked_at as "revokedAt",
      workspace.suspended_at is not null as "isSuspended", workspace.deleted_at is not null as "isDeleted"
    from api_key
    join workspace on workspace.id = api_key.workspace_id
    left join settings on settings.workspace_id = api_key.workspace_id
    where api_key.key_hash = ${Buffer.from(hash, 'hex')}`
  if (row === undefined) return undefined
  const { perSecond, burst, revokedAt, isSuspended, isDeleted, ...caller } = row
  return {
    caller: { ...caller, productStatuses: caller.productStatuses ?? [...PRODUCT_STATUSES] },
    rateLimit: perSecond === null || burst === null ? null : { perSecond, burst },
    revokedAt,
    isSuspended,
    isDeleted,
  }
}
