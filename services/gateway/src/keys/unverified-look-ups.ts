import { ApiError } from '@backoffice/contracts/errors.ts'
import type { Database } from '@backoffice/postgres/database.ts'
import { fairSlots, type SlotRefusal } from '@backoffice/runtime/fair-slots.ts'
import { clientOf } from '../authorization/client-address.ts'
import { findKeys, type KnownKey } from './find-keys.ts'

/** Look-ups at once. One client alone gets one; the other stays free for the next client. */
export const UNVERIFIED_AT_ONCE = 2
/** Each client waits in a queue of its own, and clients take turns. */
const LIMITS = { slots: UNVERIFIED_AT_ONCE, share: 1, waiting: 100, waitMs: 2_000 }
/** Look-ups of all clients that wait at most. */
const MAX_WAITING = 1_000

/**
 * Looks up keys that anybody may have made, one at a time for each client address. `db` is a small pool of the worker role: other keys
 * are looked up over another one, so that invented keys delay none of them. Throws `rate_limited` when the client's queue is full, and
 * `service_unavailable` when the queues of all clients are.
 */
export function unverifiedLookUps({
  sql,
}: Pick<Database, 'sql'>): (hash: string, address: string) => Promise<KnownKey | undefined> {
  const slots = fairSlots(LIMITS, refusal)
  let waiting = 0
  return async (hash, address) => {
    if (waiting === MAX_WAITING) throw refusal('all')
    waiting++
    try {
      return await slots.run(clientOf(address), async () => (await findKeys(sql, [hash])).get(hash))
    } finally {
      waiting--
    }
  }
}

const refusal = (why: SlotRefusal) =>
  why === 'owner'
    ? new ApiError('rate_limited', 'This address sends too many unknown API keys; try again in 1 s', RETRY_LATER)
    : new ApiError('service_unavailable', 'Too many API keys wait to be checked; try again shortly', RETRY_LATER)

const RETRY_LATER = { headers: { 'retry-after': '1' } }
