import { on } from 'node:events'
import type { IncomingMessage } from 'node:http'
import { ApiError } from '@backoffice/contracts/errors.ts'
import { slotRefusals } from '@backoffice/contracts/slot-refusals.ts'
import { FairSlots, type SlotLimits, type TakeOptions } from '@backoffice/runtime/fair-slots.ts'
import type { RouteLimits } from './routes.ts'

/** The unit in which memory is shared, in bytes. */
const UNIT_BYTES = 16 * 1024
/**
 * 68 MiB for all; the share of a workspace is 4 MiB, and that of a key, too. Where bodies stand still, other workspaces
 * take their memory at once.
 */
const MEMORY: SlotLimits = { slots: 4352, share: 256, keyShare: 256, waiting: 256, waitMs: 5_000, takeOverMs: 0 }

export interface ReceivedBody {
  /** A JSON body, the chunks of an upload as they arrive, or undefined when there is none. */
  readonly content: Buffer | AsyncIterable<Buffer> | undefined
  /** Gives its memory back, once it has been sent or will not be. */
  readonly release: () => void
}

type Received = Pick<RouteLimits, 'bodyBytes' | 'isUpload'>

/** Who sends a body, and until when it is wanted. */
interface Sender {
  readonly workspaceId: string
  readonly keyId: string
  readonly signal: AbortSignal
}

const nothing = () => undefined
export const NO_BODY: ReceivedBody = { content: undefined, release: nothing }

/**
 * Receives JSON bodies completely, so that a client that sends slowly holds no slot of a service; uploads are streamed.
 * Workspaces share the memory of the JSON bodies until these are sent: by the bytes of one that came with its head,
 * else by the Content-Length, or the route's limit where it is chunked. A small one that came with its head is not
 * counted. Throws `payload_too_large` (OP-07),
 * `rate_limited` when a workspace sends too many at once, also while one arrives, and `service_unavailable` when all
 * do.
 */
export function bodyReceiver(limits: SlotLimits = MEMORY) {
  const memory = new FairSlots(limits, tooManyBodies)

  async function receiveWhole(request: IncomingMessage, maxBytes: number, { workspaceId, keyId, signal }: Sender) {
    const bytes = request.complete ? request.readableLength : Number(request.headers['content-length'] ?? maxBytes)
    const ended = new AbortController()
    const slots: TakeOptions = {
      key: keyId,
      count: Math.ceil(bytes / UNIT_BYTES),
      signal,
      onTakenOver: (refusal) => ended.abort(refusal),
    }
    const release = await memory.take(workspaceId, slots)
    try {
      const content: Buffer | undefined = request.complete
        ? (request.read() ?? undefined)
        : await gather(request, bytes, AbortSignal.any([signal, ended.signal]))
      // It is in memory until it has been sent, so nobody else gets its place.
      slots.onTakenOver = undefined
      return { content, release }
    } catch (error) {
      release()
      throw ended.signal.aborted ? ended.signal.reason : error
    }
  }

  return async (request: IncomingMessage, route: Received, sender: Sender): Promise<ReceivedBody> => {
    const { bodyBytes, isUpload } = route
    if (!hasBody(request, bodyBytes)) return NO_BODY
    if (isUpload) return { content: chunksOf(request, bodyBytes), release: nothing }
    if (request.complete && request.readableLength <= UNIT_BYTES)
      return { content: request.read() ?? undefined, release: nothing }
    return receiveWhole(request, bodyBytes, sender)
  }
}

const tooManyBodies = slotRefusals({
  owner: 'This workspace sends too many large bodies at once; send fewer',
  all: 'Too many bodies are on their way; try again',
})

/** Whether a request has a body; that of a GET has no meaning. Throws `payload_too_large` by Content-Length (OP-07). */
function hasBody({ method, headers }: IncomingMessage, maxBytes: number): boolean {
  const length = headers['content-length']
  if (length !== undefined && Number(length) > maxBytes) throw tooLarge(maxBytes)
  if (method === 'GET' || method === 'HEAD' || length === '0') return false
  return length !== undefined || headers['transfer-encoding'] !== undefined
}

/**
 * Gathers the whole body. Copies the chunks as they arrive, since each takes a hundred bytes as an object. Once the
 * signal is aborted, forgets what has arrived and waits for nothing more.
 */
async function gather(request: IncomingMessage, maxBytes: number, signal: AbortSignal): Promise<Buffer> {
  let body = Buffer.alloc(0)
  let received = 0
  try {
    for await (const [chunk] of on(request, 'data', { close: ['end', 'close'], signal })) {
      const bytes = received + chunk.length
      if (bytes > maxBytes) throw tooLarge(maxBytes)
      if (bytes > body.length) body = Buffer.concat([body], Math.min(2 * bytes, maxBytes))
      chunk.copy(body, received)
      received = bytes
    }
    if (!request.complete) throw new Error('the connection was closed before the end of the body')
    return body.subarray(0, received)
  } finally {
    request.resume()
  }
}

/** The chunks of a request's body as they arrive. Throws `payload_too_large` beyond `maxBytes` (OP-07). */
async function* chunksOf(request: IncomingMessage, maxBytes: number): AsyncGenerator<Buffer> {
  let received = 0
  try {
    for await (const chunk of request.iterator({ destroyOnReturn: false })) {
      received += chunk.length
      if (received > maxBytes) throw tooLarge(maxBytes)
      yield chunk
    }
  } finally {
    request.resume() // Drops the rest of an unread body, so that the client comes to read its answer.
  }
}

const tooLarge = (maxBytes: number) => new ApiError('payload_too_large', `body: is larger than ${maxBytes} bytes`)
