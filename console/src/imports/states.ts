import type { components } from '../api/client.ts'

type Import = components['schemas']['Import']

const UNDER_WAY = ['UPLOADED', 'VALIDATING', 'IMPORTING']
const STARTED = ['COMPLETED', 'COMPLETED_WITH_ERRORS', 'FAILED', 'CANCELLED']
/** Rows that were under way when an import was cancelled are still applied. */
const ENDS_WITHIN_MS = 10_000
const UNDO_MS = 24 * 3_600_000

const age = ({ updated_at }: Import) => Date.now() - Date.parse(updated_at)

/** Whether an import changes by itself. */
export const isMoving = (one: Import): boolean =>
  UNDER_WAY.includes(one.status) || (one.status === 'CANCELLED' && age(one) < ENDS_WITHIN_MS)

/** Whether the file was read, so that there is a report. */
export const isRead = ({ status }: Import): boolean => status !== 'UPLOADED' && status !== 'VALIDATING'

/** Whether the import waits for somebody to start it. */
export const isWaiting = ({ status }: Import): boolean => status === 'VALIDATED' || status === 'INVALID'

/** Whether something was applied. */
export const isApplied = ({ status, processed_rows }: Import): boolean => STARTED.includes(status) && processed_rows > 0

/** Whether it can still be undone: within a day of its end. */
export const isUndoable = (one: Import): boolean => isApplied(one) && age(one) < UNDO_MS
