import { execFile } from 'node:child_process'
import { existsSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { ApiError, unprocessable } from '@backoffice/contracts/errors.ts'
import { slotRefusals } from '@backoffice/contracts/slot-refusals.ts'
import { FairSlots, type SlotRefusal } from '@backoffice/runtime/fair-slots.ts'
import type { Logger } from '@backoffice/runtime/logger.ts'
import { MOST_PIXELS } from './asset-types.ts'

const PROCESS = fileURLToPath(new URL('./image-process.ts', import.meta.url))
const REFUSED = 3

/** Each process takes a core. A workspace gets one at most, so that the images of another find one as well. */
export const SLOTS = { slots: 2, share: 1, waiting: 16, waitMs: 25_000 }
const WORK_MS = 40_000

/** What Node reserves of a process's memory, and never uses. */
export const RESERVED_BY_NODE_MIB = 590
/**
 * Of a process, as RLIMIT_DATA counts it, with what Node reserves. The largest image that is accepted
 * needs 1,780: a lossless WebP of 50 megapixels (decision 014). k8s/base/catalog has room for it.
 */
export const MEMORY_MIB = 2304
/** The process needs less than 30 MiB for JavaScript. Without V8's worker threads it has 8 threads instead of 11. */
const NODE_OPTIONS = ['--max-old-space-size=64', '--v8-pool-size=0']
/** Limits the memory, in KiB, and prevents core dumps. */
const LIMITED = 'ulimit -c 0; ulimit -d "$0"; exec "$@"'
const SHELL = '/bin/sh'

const tooBusy = slotRefusals({
  owner: 'Too many images of this workspace are waiting; send fewer at once',
  all: 'Too many images are being worked on; try again shortly',
})

/** The refusal of an image that had no turn: it says nothing about the image. */
export class NoTurn extends ApiError {
  constructor(why: SlotRefusal) {
    const { code, reason, errorReason } = tooBusy(why)
    super(code, reason, { errorReason })
  }
}

export interface ImageFiles {
  readonly source: string
  readonly image: string
  readonly thumbnail: string
}

/** Normalizes an image of a workspace, by its type. */
export type NormalizeImage = (workspaceId: string, type: string, files: ImageFiles) => Promise<void>

/**
 * Starts the processes of images: two at a time, for one workspace after another. The function writes an image as
 * `image`, upright, in sRGB and without metadata, and its 500×500 `thumbnail`. It throws `NoTurn` (`rate_limited` or
 * `service_unavailable`) without a turn within 25 s, and `unprocessable` for an image that is truncated, corrupt, has
 * too many pixels for its type or needs too much memory (OP-90).
 */
export function imageWork(logger: Logger, run = runImageProcess): NormalizeImage {
  const slots = new FairSlots(SLOTS, (why) => new NoTurn(why))
  let hasWarned = false
  const isLimited = () => {
    // macOS accepts the limit, but does not enforce it.
    if (process.platform === 'linux' && existsSync(SHELL)) return true
    if (!hasWarned) logger.warn(`image processes have no limit of memory: it needs Linux and ${SHELL}`)
    hasWarned = true
    return false
  }
  return (workspaceId, type, files) =>
    slots.run(workspaceId, async () => {
      const failure = await run(type, files, isLimited())
      if (failure === undefined) return
      const { signal, stderr } = failure
      if (signal !== null) logger.warn({ workspace_id: workspaceId, type, signal, stderr }, 'an image process crashed')
      throw refusal(failure, type)
    })
}

/** How a process ended that has written no image: its exit code, or the signal that ended it. */
interface Failure {
  readonly code: string | number | null
  readonly signal: NodeJS.Signals | null
  /** What it wrote, such as the reason of a refusal. */
  readonly stdout: string
  readonly stderr: string
}

/** Runs one process. Resolves with undefined once it has written the image. */
export function runImageProcess(type: string, files: ImageFiles, isLimited: boolean): Promise<Failure | undefined> {
  const { source, image, thumbnail } = files
  const maxPixels = String(MOST_PIXELS[type])
  const node = [process.execPath, ...NODE_OPTIONS, PROCESS]
  const command = [...node, type.replace('image/', ''), maxPixels, source, image, thumbnail]
  const limited = isLimited ? [SHELL, '-c', LIMITED, String(MEMORY_MIB * 1024)] : []
  const [program = '', ...args] = [...limited, ...command]
  // The process decodes a client's file, so it gets none of the service's secrets.
  const { NODE_COMPILE_CACHE } = process.env
  const env = { ...(NODE_COMPILE_CACHE !== undefined && { NODE_COMPILE_CACHE }) }
  return new Promise((resolve) => {
    execFile(program, args, { env, timeout: WORK_MS, killSignal: 'SIGKILL' }, (error, stdout, stderr) => {
      resolve(error === null ? undefined : { code: error.code ?? null, signal: error.signal ?? null, stdout, stderr })
    })
  })
}

function refusal({ code, signal, stdout, stderr }: Failure, type: string): Error {
  // The process took too long, or the machine is out of memory.
  if (signal === 'SIGKILL') return tooBusy('all')
  const [reason = ''] = stdout.split('\n', 1)
  // A decoder that gets no memory says so or crashes.
  if (signal !== null || (code === REFUSED && /memory|allocat/i.test(reason))) {
    return unprocessable(['file'], `cannot be taken as ${type}: needs more than ${MEMORY_MIB} MiB of memory`)
  }
  if (code === REFUSED) return unprocessable(['file'], `cannot be taken as ${type}: ${reason}`)
  return new Error(`the image process failed: ${code} ${stderr}`)
}
