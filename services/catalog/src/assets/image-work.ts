import { type ExecFileException, execFile } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { ApiError, unprocessable } from '@backoffice/contracts/errors.ts'
import { IMAGE_TYPES } from './asset-types.ts'
import { concurrencyLimit } from './concurrency-limit.ts'

const PROCESS = fileURLToPath(new URL('./image-process.ts', import.meta.url))
const REFUSED = 3

/** Each process may take half a gigabyte of memory and a core. */
const MAX_CONCURRENT = 2
const WAIT_MS = 30_000
const WORK_MS = 40_000

const tooBusy = () => {
  const message = 'Too many images are being worked on; try again shortly'
  return new ApiError('service_unavailable', message, { headers: { 'retry-after': '5' } })
}

const limited = concurrencyLimit(MAX_CONCURRENT, WAIT_MS, tooBusy)

interface ImageFiles {
  readonly source: string
  readonly image: string
  readonly thumbnail: string
}

/**
 * Writes an image again as `image`, upright, in sRGB and without any metadata, and its 500×500 `thumbnail`, in a
 * separate process. Two run at a time; others wait up to 30 s. Throws `service_unavailable` after that, and
 * `unprocessable` for an image that is truncated, corrupt, or has too many pixels for its type (OP-90).
 */
export function normalizeImage(type: string, files: ImageFiles): Promise<void> {
  return limited(() => run(type, files))
}

function run(type: string, { source, image, thumbnail }: ImageFiles): Promise<void> {
  const maxPixels = String(IMAGE_TYPES[type]?.maxPixels)
  const args = [PROCESS, type.replace('image/', ''), maxPixels, source, image, thumbnail]
  // The process decodes a client's file, so it gets none of the service's secrets.
  const { NODE_COMPILE_CACHE } = process.env
  const env = { ...(NODE_COMPILE_CACHE !== undefined && { NODE_COMPILE_CACHE }) }
  return new Promise((resolve, reject) => {
    execFile(process.execPath, args, { env, timeout: WORK_MS, killSignal: 'SIGKILL' }, (error, stdout, stderr) => {
      if (error === null) resolve()
      else reject(refusal(error, type, stdout, stderr))
    })
  })
}

function refusal(error: ExecFileException, type: string, reason: string, stderr: string): Error {
  if (error.code === REFUSED) return unprocessable(['file'], `cannot be taken as ${type}: ${reason.split('\n', 1)[0]}`)
  if (error.killed) return tooBusy()
  return new Error(`the image process failed: ${stderr}`, { cause: error })
}
