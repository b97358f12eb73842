import type { Readable } from 'node:stream'
import { ApiError } from '@backoffice/contracts/errors.ts'
import { slotRefusals } from '@backoffice/contracts/slot-refusals.ts'
import type { Database, Transaction, WorkspaceContext } from '@backoffice/postgres/database.ts'
import { FairSlots, type SlotLimits, type TakeOptions } from '@backoffice/runtime/fair-slots.ts'
import type { Discarding } from './discard-files.ts'
import type { FileStorage } from './file-storage.ts'
import { filesOfRow } from './files-of-row.ts'
import { newFolder } from './incoming-files.ts'
import { refuseTooManyBytes } from './stored-bytes.ts'

/** What uploads need. `storedBytes` is the most that the files of a workspace may have, in bytes. */
export interface Uploading extends Discarding {
  readonly db: Database
  readonly storage: FileStorage
  readonly storedBytes: number
}

/** The input of an operation that takes a file. */
interface Upload<Reply> {
  readonly file: { readonly leastBytes: number; readonly content: Readable; fail(error: Error): void }
  readonly context: WorkspaceContext
  readonly idempotencyKey: string | undefined
  inWorkspace(work: (tx: Transaction) => Promise<Reply>): Promise<Reply>
}

/** Stored files, and what writes their row and answers. */
interface Stored<Reply> {
  readonly paths: readonly string[]
  insert(tx: Transaction): Promise<Reply>
  /** Called after the commit. */
  onCommitted?(): void
}

const takenOver = () =>
  new ApiError('rate_limited', 'Other workspaces need the place of this upload; send it again', {
    errorReason: 'too_many_at_once',
  })

/** Short: the gateway's limit for the answer starts with the last byte that could be sent, and may run already. */
const WAIT_MS = 5_000
/** After so long, files that are still arriving give way to a workspace with fewer. */
const TAKE_OVER_MS = 1_000

/**
 * Takes uploads of as many files at once as `limits` say, workspaces in turn (OP-164), unless `refuse` throws before
 * the file is received. The returned function calls `store` with a folder for the incoming file. The files are stored
 * before their row is written: a crash between the two leaves a file without a row, never a row without its file.
 */
export function storedUploads(
  uploading: Uploading,
  limits: Required<Pick<SlotLimits, 'slots' | 'share' | 'most'>>,
  refuse?: (tx: Transaction) => Promise<void>,
) {
  const { db, storage, storedBytes } = uploading
  const slots = new FairSlots(
    { ...limits, waiting: 2 * limits.most, waitMs: WAIT_MS, takeOverMs: TAKE_OVER_MS },
    slotRefusals({
      owner: `Too many uploads of this workspace are under way; send at most ${limits.most} files at once`,
      all: 'Too many uploads are under way; try again shortly',
    }),
  )
  return <Reply>(upload: Upload<Reply>, store: (folder: string) => Promise<Stored<Reply>>): Promise<Reply> => {
    const { file, context, idempotencyKey, inWorkspace } = upload
    const slot: TakeOptions = { onTakenOver: () => file.fail(takenOver()) }
    file.content.once('end', () => {
      slot.onTakenOver = undefined
    })
    const work = async () => {
      // Checked before the file is received. A request with an Idempotency-Key may have a stored answer, so it is
      // checked later.
      if (idempotencyKey === undefined)
        await db.inWorkspace(context, async (tx) => {
          await refuseTooManyBytes(tx, storedBytes, file.leastBytes || 1)
          await refuse?.(tx)
        })
      await using folder = await newFolder(storage.incoming)
      const { paths, insert, onCommitted } = await store(folder.path)
      let own: Reply | undefined
      const insertRow = () =>
        inWorkspace(async (tx) => {
          own = await insert(tx)
          await refuseTooManyBytes(tx, storedBytes)
          return own
        })
      // Another answer is the stored one of an earlier request.
      const reply = await filesOfRow(uploading, paths, insertRow, (answer) => answer === own)
      if (reply === own) onCommitted?.()
      return reply
    }
    // Taken before the file is received: then waiting takes no room on the disk.
    return slots.run(context.workspaceId, work, slot)
  }
}
