import { join } from 'node:path'
import { ApiError } from '@backoffice/contracts/errors.ts'
import type { ReportedError } from '@backoffice/contracts/import.ts'
import type { Database } from '@backoffice/postgres/database.ts'
import { counter } from '@backoffice/runtime/metrics.ts'
import { inRun } from '@backoffice/runtime/spans.ts'
import { Tasks } from '@backoffice/runtime/tasks.ts'
import { worker } from '@backoffice/runtime/worker.ts'
import { failsAlone, noteFailure } from '@backoffice/runtime/worker-failures.ts'
import { discardFiles } from '@backoffice/storage/discard-files.ts'
import { newFolder } from '@backoffice/storage/incoming-files.ts'
import { throwNoRoom, throwUnavailable } from '@backoffice/storage/storage-errors.ts'
import { FINDING_NAMES, FINDINGS, findingPath, findingPaths, uploadPath } from '../files/file-paths.ts'
import { recordFailure } from '../imports/end-import.ts'
import { aboutFile } from '../imports/import-row.ts'
import type { WorkerContext } from '../imports/worker-context.ts'
import {
  type ClaimedImport,
  claimImport,
  failClaimed,
  giveBackClaim,
  recordFindings,
  renewClaim,
  uncountClaim,
} from './claim-import.ts'
import { mostBytesOfNext } from './places.ts'
import { TimeSlices } from './time-slices.ts'
import { type CheckPage, validateFile } from './validate-file.ts'

const NAME = 'validations'
const EVERY_MS = 1000
const HEARTBEAT_MS = 5000

const validatedRows = counter(
  'imports_rows_validated',
  'Rows of files that validation has read; those of a file that is validated again count again',
)

/** The claim is lost, the import is cancelled or FAILED, or the process stops. */
class Stopped extends Error {}

/** What validations need. `storedBytes` is the most that the files of a workspace may have, in bytes. */
export interface Validating extends WorkerContext {
  readonly storedBytes: number
}

/** Validates uploaded files. Call `wake` after an upload. */
export function validateImports(context: Validating) {
  const slices = new TimeSlices()
  const validations = new Tasks<ClaimedImport>()
  return worker({
    name: NAME,
    everyMs: EVERY_MS,
    logger: context.logger,
    tasks: validations,
    async work(stopping) {
      const underWay = validations.items
      const mostBytes = mostBytesOfNext(underWay.map(({ bytes }) => bytes))
      if (mostBytes === undefined || underWay.some(({ isAlone }) => isAlone)) return EVERY_MS
      const claimed = await claimImport(context, mostBytes, underWay.length === 0)
      if (claimed === undefined) return undefined
      validations.begin(claimed, () => inRun('validation', () => validateClaimed(context, claimed, slices, stopping)))
      return 0
    },
  })
}

/** Validates one import. A failure that may pass is noted, and the import is tried again later. */
async function validateClaimed(
  context: Validating,
  claimed: ClaimedImport,
  slices: TimeSlices,
  stopping: AbortSignal,
): Promise<void> {
  const { db, logger } = context
  const startedAt = performance.now()
  const logged = { import_id: claimed.id, workspace_id: claimed.workspaceId }
  try {
    const rows = await whileHeartbeating(db, claimed, stopping, (held) =>
      validateStored(context, claimed, slices, held),
    )
    logger.info({ ...logged, rows, duration_ms: Math.round(performance.now() - startedAt) }, 'import validated')
  } catch (error) {
    if (error instanceof Stopped) {
      if (stopping.aborted) await giveBackClaim(db, claimed).catch(() => undefined)
      return
    }
    noteFailure(logger, NAME, error, logged)
    // When this fails too, the claim ends, and the import is validated again.
    await failsAlone(logger, NAME, logged, () => recordFailure(db, claimed, error))
  }
}

/** A claim that is held: aborted when it is lost, when the import is cancelled, and when the process stops. */
interface HeldClaim {
  readonly signal: AbortSignal
  /** Tells the heartbeat how many rows were read. Throws when the claim is not held any more. */
  onRows(rows: number): void
}

/** Renews the claim while `work` runs. Throws Stopped when the claim is not held any more. */
async function whileHeartbeating<Result>(
  db: Database,
  claimed: ClaimedImport,
  stopping: AbortSignal,
  work: (held: HeldClaim) => Promise<Result>,
): Promise<Result> {
  let read = 0
  const lost = new AbortController()
  const signal = AbortSignal.any([lost.signal, stopping])
  let isAway = false
  const renew = async () => {
    // When PostgreSQL does not answer, the claim may still hold; the next heartbeat tells.
    const isHeld = await renewClaim(db, claimed, read).catch(() => undefined)
    if (isHeld !== false) isAway = isHeld === undefined
    else if (!lost.signal.aborted) {
      lost.abort()
      if (isAway) await uncountClaim(db, claimed).catch(() => undefined)
    }
  }
  const heartbeat = setInterval(() => void renew(), HEARTBEAT_MS)
  const onRows = (rows: number) => {
    validatedRows.add(rows - read)
    read = rows
    signal.throwIfAborted()
  }
  try {
    return await work({ signal, onRows })
  } catch (error) {
    if (signal.aborted) throw new Stopped('the claim is lost or the process stops')
    // `recordFailure` goes by the row that was reached.
    await renew()
    throw error
  } finally {
    clearInterval(heartbeat)
  }
}

/** Validates a stored file, stores what was found and records it. Returns the number of rows. */
async function validateStored(
  { db, storage, storedBytes, owners, logger }: Validating,
  claimed: ClaimedImport,
  slices: TimeSlices,
  { signal, onRows }: HeldClaim,
): Promise<number> {
  await using folder = await newFolder(storage.incoming)
  const { template, encoding, currency, formerClaim } = claimed
  await storage.remove(findingPaths({ ...claimed, claim: formerClaim }))
  const stored = await storage.read(uploadPath(claimed))
  const content = whole(stored, claimed.bytes)
  const remarks = remarksOn(claimed)
  const file = { template, content, encoding, currency, folder: folder.path, remarks, slices, signal }
  const check: CheckPage = (page) => owners.check(claimed, page, signal)
  const findings = await validateFile(file, check, onRows)
    .catch(throwNoRoom)
    .finally(() => stored.destroy())
  const bytes = await storeFindings({ storage, logger }, claimed, folder.path, signal)
  const recorded = await recordFindings(db, claimed, findings, bytes, storedBytes).catch(whyRefused)
  if (recorded === true) return findings.counts.total_rows
  await storage.remove(findingPaths(claimed))
  if (recorded !== false) await failClaimed(db, claimed, recorded)
  throw new Stopped('the claim is lost, or the import FAILED')
}

/** The content of a file. Throws `service_unavailable` at its end when it had another number of `bytes`. */
async function* whole(content: AsyncIterable<Buffer>, bytes: number): AsyncGenerator<Buffer> {
  let left = bytes
  for await (const chunk of content) {
    left -= chunk.length
    yield chunk
  }
  if (left !== 0) throwUnavailable(new Error(`the storage gave ${bytes - left} bytes of ${bytes}`))
}

/** Why findings are refused for good: the workspace has no room for their files (OP-164). */
function whyRefused(error: unknown): string {
  if (error instanceof ApiError && error.code === 'unprocessable') return `the file with its report ${error.reason}`
  throw error
}

/** Returns the bytes of the files. After a failure none of them stays, as far as the storage can be reached. */
async function storeFindings(
  { storage, logger }: Pick<WorkerContext, 'storage' | 'logger'>,
  claimed: ClaimedImport,
  folder: string,
  signal: AbortSignal,
): Promise<number> {
  try {
    let bytes = 0
    for (const name of FINDING_NAMES) {
      const type = name === 'rows' ? 'application/x-ndjson' : 'text/csv'
      bytes += await storage.put(findingPath(claimed, name), join(folder, FINDINGS[name]), type, signal)
    }
    return bytes
  } catch (error) {
    await discardFiles({ storage, logger }, findingPaths(claimed))
    throw error
  }
}

/** What the report tells about the file itself (OP-146, OP-186). */
function remarksOn({ sameAs, encoding }: ClaimedImport): ReportedError[] {
  const remarks: ReportedError[] = []
  if (sameAs !== null) {
    const message = `the file has the same content as the import ${sameAs} of the last 24 hours; start only one of them`
    remarks.push(aboutFile('duplicate', message, sameAs))
  }
  if (encoding !== 'utf-8') {
    const message = `the file is not UTF-8 and was read as ${encoding}; save it as UTF-8 if letters in the report are wrong`
    remarks.push(aboutFile('bad_request', message, encoding))
  }
  return remarks
}
