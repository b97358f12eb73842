import { ApiError } from '@backoffice/contracts/errors.ts'
import { isRolledBack } from '@backoffice/postgres/postgres-errors.ts'
import type { FileStorage } from './file-storage.ts'

/**
 * Has `insert` write the row of stored files in a transaction, and returns its result. Removes the files when the
 * result is not `isKept`, or the transaction has not begun or was rolled back. After another error its end is unknown,
 * and there may be a row. Files that cannot be removed stay without a row, which does no harm.
 */
export async function filesOfRow<Result>(
  storage: Pick<FileStorage, 'remove'>,
  paths: readonly string[],
  insert: () => Promise<Result>,
  isKept: (result: Result) => boolean,
): Promise<Result> {
  const discard = () => storage.remove(paths).catch(() => undefined)
  try {
    const result = await insert()
    if (!isKept(result)) await discard()
    return result
  } catch (error) {
    if (error instanceof ApiError || isRolledBack(error)) await discard()
    throw error
  }
}
