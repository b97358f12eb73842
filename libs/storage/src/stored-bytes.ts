import { unprocessable } from '@backoffice/contracts/errors.ts'
import type { Transaction } from '@backoffice/postgres/database.ts'

/** The most bytes of a workspace's files in each service that stores some, unless an operator sets another number. */
export const STORED_BYTES = 20_000_000_000

/**
 * Throws `unprocessable` when the workspace's files, and `more` bytes, exceed its limit (OP-164). Call it after a
 * file's row is inserted: a trigger has then locked the workspace's row in `stored_bytes`, so the number is exact until
 * the transaction ends.
 */
export async function refuseTooManyBytes(tx: Transaction, limit: number, more = 0): Promise<void> {
  const [stored = { bytes: 0 }] = await tx<{ bytes: number }[]>`
    select bytes from stored_bytes where workspace_id = ${tx.context.workspaceId}`
  if (stored.bytes + more <= limit) return
  const gigabytes = `${limit / 1_000_000_000} GB`
  throw unprocessable(
    ['file'],
    `does not fit: the files of a workspace may have ${gigabytes} in all; send a smaller one, or ask for more room`,
    'storage_full',
  )
}
