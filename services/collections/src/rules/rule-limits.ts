import type { COLLECTION } from '@backoffice/contracts/collection.ts'
import { unprocessable } from '@backoffice/contracts/errors.ts'
import type { RecordOf } from '@backoffice/contracts/members.ts'
import type { Transaction } from '@backoffice/postgres/database.ts'

/** How many SMART collections there are, and the bytes of their rules. */
export interface RuleTotals {
  readonly collections: number
  readonly bytes: number
}

/**
 * What a workspace may have at most (OP-311). A change of a product is compared with all of its rules, so each replica
 * has them in memory.
 */
const MOST: RuleTotals = { collections: 5000, bytes: 4 * 1024 * 1024 }

type Ruled = Pick<RecordOf<typeof COLLECTION>, 'membershipType' | 'rules'>

/** An expression for the totals of the workspace, as JSON. */
export const ruleTotals = (tx: Transaction) => tx`(
  select json_build_object('collections', count(*), 'bytes', coalesce(sum(octet_length(rules::text)), 0))
  from collection where workspace_id = ${tx.context.workspaceId} and membership_type = 'SMART'
)`

export const plusRules = (one: RuleTotals, other: RuleTotals): RuleTotals => ({
  collections: one.collections + other.collections,
  bytes: one.bytes + other.bytes,
})

/** What a change of a collection adds to the totals. */
export function addedRules(before: Ruled | undefined, after: Ruled): RuleTotals {
  const [former, next] = [rulesOf(before), rulesOf(after)]
  return { collections: next.collections - former.collections, bytes: next.bytes - former.bytes }
}

const rulesOf = (collection: Ruled | undefined): RuleTotals =>
  collection?.membershipType === 'SMART'
    ? { collections: 1, bytes: Buffer.byteLength(JSON.stringify(collection.rules)) }
    : { collections: 0, bytes: 0 }

/** Throws `unprocessable` for a change that adds to the totals and makes them more than may be. */
export function refuseTooManyRules(totals: RuleTotals, added: RuleTotals): void {
  if (added.collections > 0 && totals.collections > MOST.collections) {
    throw unprocessable(
      ['membership_type'],
      `a workspace may have ${MOST.collections} SMART collections; delete some, or make this one MANUAL`,
      'limit_reached',
    )
  }
  if (added.bytes > 0 && totals.bytes > MOST.bytes) {
    throw unprocessable(
      ['rules'],
      `with those of other collections they would have ${totals.bytes} bytes, and a workspace may have ${MOST.bytes}; shorten lists of values, or delete collections`,
      'limit_reached',
    )
  }
}
