import type { COLLECTION } from '@backoffice/contracts/collection.ts'
import { unprocessable } from '@backoffice/contracts/errors.ts'
import type { RecordOf } from '@backoffice/contracts/members.ts'
import type { Transaction } from '@backoffice/postgres/database.ts'

/**
 * The most bytes of the rules of a workspace's SMART collections (OP-311). A change of a product is compared with all
 * of them, so each replica has them in memory.
 */
const MOST_BYTES = 4 * 1024 * 1024

type Ruled = Pick<RecordOf<typeof COLLECTION>, 'membershipType' | 'rules'>

/** An expression for the bytes of the rules of the workspace's SMART collections. */
export const ruleBytes = (tx: Transaction) => tx`(
  select coalesce(sum(octet_length(rules::text)), 0)::bigint from collection
  where workspace_id = ${tx.context.workspaceId} and membership_type = 'SMART'
)`

/** The bytes that a change of a collection adds to these. */
export const addedRuleBytes = (before: Ruled | undefined, after: Ruled): number => bytesOf(after) - bytesOf(before)

const bytesOf = (collection: Ruled | undefined): number =>
  collection?.membershipType === 'SMART' ? Buffer.byteLength(JSON.stringify(collection.rules)) : 0

/** Throws `unprocessable` for a change that adds bytes, and makes them more than may be: `bytes`. */
export function refuseTooManyRules(bytes: number, added: number): void {
  if (added <= 0 || bytes <= MOST_BYTES) return
  throw unprocessable(
    ['rules'],
    `with those of other collections they would have ${bytes} bytes, and a workspace may have ${MOST_BYTES}; shorten lists of values, or delete collections`,
    'limit_reached',
  )
}
