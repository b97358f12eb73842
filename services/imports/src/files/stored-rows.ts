import { text } from 'node:stream/consumers'
import { deadline } from '@backoffice/runtime/deadline.ts'
import type { FileStorage } from '@backoffice/storage/file-storage.ts'
import { throwUnavailable } from '@backoffice/storage/storage-errors.ts'
import { findingPath } from './file-paths.ts'

/** Where a batch is in the file of rows. */
interface Place {
  readonly first_byte: number
  readonly bytes: number
}

/** How long the rows of some batches may take to come, in milliseconds. They have a few MB. */
const READ_MS = 30_000

/**
 * Reads the rows of batches that follow each other. Throws `service_unavailable` when they do not come in time. No
 * error has any of their text, which may be personal.
 */
export async function readBatches<Row>(
  storage: FileStorage,
  claimed: Parameters<typeof findingPath>[0],
  batches: readonly [Place, ...Place[]],
  withinMs = READ_MS,
): Promise<Row[][]> {
  const [first, last = first] = [batches[0], batches.at(-1)]
  const range = { start: first.first_byte, end: last.first_byte + last.bytes - 1 }
  const content = await storage.read(findingPath(claimed, 'rows'), range)
  const inTime = deadline(withinMs, () => content.destroy(new Error(`the rows did not come within ${withinMs} ms`)))
  const lines = (await text(content).catch(throwUnavailable).finally(inTime)).split('\n')
  return batches.map((_, index) => parsed<Row>(lines[index]))
}

function parsed<Row>(line: string | undefined): Row[] {
  try {
    return JSON.parse(line ?? '')
  } catch {
    throw new Error('a line of the file of rows is cut or damaged')
  }
}
