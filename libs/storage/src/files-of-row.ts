import { ApiError } from '@backoffice/contracts/errors.ts'
import { isRolledBack } from '@backoffice/postgres/postgres-errors.ts'
import { type Discarding, discardFiles } from './discard-files.ts'

/**
 * Has `insert` write the row of stored files in a transaction, and returns its result. Removes the files when the
 * result is not `isKept`, or the transaction has not begun or was rolled back. After another error its end is unknown,
 * and there may be a row.
 */
export async function filesOfRow<Result>(
  discarding: Discarding,
  paths: readonly string[],
  insert: () => Promise<Result>,
  isKept: (result: Result) => boolean,
): Promise<Result> {
  const discard = () => discardFiles(discarding, paths)
  try {
    const result = await insert()
    if (!isKept(result)) await discard()
    return result
  } catch (error) {
    if (error instanceof ApiError || isRolledBack(error)) await discard()
    throw error
  }
}
