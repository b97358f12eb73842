import { ApiError } from '@backoffice/contracts/errors.ts'

/** Codes of a write without room: the disk is full, or what its user may have of it. */
const NO_ROOM = new Set(['ENOSPC', 'EDQUOT'])

/** SQLite's own code of a full disk. */
const SQLITE_FULL = 13

/** Throws `service_unavailable` for a disk without room, and any other error unchanged. */
export function throwNoRoom(error: NodeJS.ErrnoException & { readonly errcode?: number }): never {
  if (!NO_ROOM.has(error.code ?? '') && error.errcode !== SQLITE_FULL) throw error
  throw new ApiError('service_unavailable', 'There is no room for the file now; try again later', {
    cause: error,
    headers: { 'retry-after': '60' },
  })
}

/** Throws `service_unavailable` for a storage that cannot be reached. */
export function throwUnavailable(error: Error): never {
  throw new ApiError('service_unavailable', 'Files cannot be stored or read now; try again shortly', { cause: error })
}
