import { unprocessable } from '@backoffice/contracts/errors.ts'
import type { Transaction } from '@backoffice/postgres/database.ts'

/** The most bytes of a workspace's files in each service that stores some, unless an operator sets another number. */
export const STORED_BYTES = 20_000_000_000

/**
 * Throws `unprocessable` when the stored files of the workspace, and `more` bytes, exceed its limit (OP-164). Triggers
 * keep the bytes in the service's table `stored_bytes`. Call it after a file's row is inserted: the trigger has then
 * locked the workspace's row there, so the number is exact until the transaction ends, and of two uploads at once one
 * waits for the other.
 */
export async function refuseTooManyBytes(tx: Transaction, limit: number, more = 0): Promise<void> {
  const [stored = { bytes: 0 }] = await tx<{ bytes: number }[]>`
    select bytes from stored_bytes where workspace_id = ${tx.context.workspaceId}`
  if (stored.bytes + more <= limit) return
  const gigabytes = `${limit / 1_000_000_000} GB`
  throw unprocessable(
    ['file'],
    `does not fit: the files of a workspace may have ${gigabytes} in all; send a smaller one, or ask for more room`,
  )
}
