import { ApiError } from '@backoffice/contracts/errors.ts'

/** Codes of a write without room: the disk is full, or what its user may have of it. */
const NO_ROOM = new Set(['ENOSPC', 'EDQUOT'])

/** SQLite's own code of a full disk. */
const SQLITE_FULL = 13

/** Whether the disk had no room. */
export function isNoRoom(error: unknown): boolean {
  const { code, errcode } = error as NodeJS.ErrnoException & { readonly errcode?: number }
  return NO_ROOM.has(code ?? '') || errcode === SQLITE_FULL
}

/** Throws `service_unavailable` for a disk without room, and any other error unchanged. */
export function throwNoRoom(error: unknown): never {
  if (!isNoRoom(error)) throw error
  throw new ApiError('service_unavailable', 'There is no room for the file now; try again later', {
    cause: error,
    headers: { 'retry-after': '60' },
  })
}

/** Throws `service_unavailable` for a storage that cannot be reached. */
export function throwUnavailable(error: Error): never {
  throw new ApiError('service_unavailable', 'Files cannot be stored or read now; try again shortly', { cause: error })
}
