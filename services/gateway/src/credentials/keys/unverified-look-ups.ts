import { slotRefusals } from '@backoffice/contracts/slot-refusals.ts'
import type { Database } from '@backoffice/postgres/database.ts'
import { FairSlots } from '@backoffice/runtime/fair-slots.ts'
import { clientOf } from '../client-address.ts'
import { batchedLookUps } from './batched-look-ups.ts'
import { findKeys, type KnownKey } from './find-keys.ts'

/**
 * The limits of look-ups under way; a few statements serve them all. A single client gets all slots but ten. Each
 * client has a queue of its own, and clients get slots round robin.
 */
const LIMITS = { slots: 50, share: 10, waiting: 100, waitMs: 2_000 }
/** Look-ups of all clients that wait or are under way. */
const MAX_WAITING = 1_000

/**
 * Looks up keys that anybody may have made. `db` is a small pool of the worker role: other keys are looked up over
 * another one, so that invented keys delay none of them. Throws `rate_limited` when the client's queue is full, and
 * `service_unavailable` when the queues of all clients are.
 */
export function unverifiedLookUps(db: Pick<Database, 'sql'>) {
  const slots = new FairSlots(LIMITS, refusal)
  const find = batchedLookUps((hashes) => findKeys(db.sql, hashes))
  let waiting = 0
  return async (hash: string, address: string): Promise<KnownKey | undefined> => {
    if (waiting === MAX_WAITING) throw refusal('all')
    waiting++
    try {
      return await slots.run(clientOf(address), () => find(hash))
    } finally {
      waiting--
    }
  }
}

const refusal = slotRefusals({
  owner: 'This address sends too many unknown API keys; try again in 1 s',
  all: 'Too many API keys wait to be checked; try again shortly',
})
