import { pipeline, Readable, type Transform } from 'node:stream'
import { constants, createBrotliCompress, createGzip } from 'node:zlib'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'

/** An answer of fewer bytes fits one packet, and is sent as it is (OP-268). */
const LEAST_BYTES = 1024
/** Answers that are compressed at a time, each with about 1 MB of memory. Further ones are sent as they are. */
const MAX_UNDER_WAY = 32

const ENCODINGS: Readonly<Record<string, () => Transform>> = {
  br: () =>
    createBrotliCompress({ params: { [constants.BROTLI_PARAM_QUALITY]: 4, [constants.BROTLI_PARAM_LGWIN]: 18 } }),
  gzip: () => createGzip({ level: 5 }),
}

/** JSON, CSV, pages and scripts. Images are compressed already, and events are to arrive one by one. */
const COMPRESSIBLE = /^(?:text\/(?!event-stream)|application\/(?:json|javascript))/

/** Compresses answers for clients that accept it, in threads of their own (RFC 9110, 12.5.3; OP-268). */
export function compressAnswers(app: FastifyInstance): void {
  let underWay = 0
  app.addHook('onSend', async (request, reply, payload: unknown) => {
    // A 304 has the header if the answer may have it that it stands for (RFC 9110, 15.4.5).
    if (reply.statusCode === 304) varyByEncoding(reply)
    if (!isCompressible(request, reply, payload)) return payload
    varyByEncoding(reply)
    const encoding = encodingFor(String(request.headers['accept-encoding'] ?? ''))
    const compressor = underWay < MAX_UNDER_WAY ? ENCODINGS[encoding]?.() : undefined
    if (compressor === undefined) return payload
    underWay++
    reply.removeHeader('content-length').header('content-encoding', encoding)
    const tag = reply.getHeader('etag')
    if (typeof tag === 'string' && tag.startsWith('"')) reply.header('etag', `W/${tag}`)
    const source = payload instanceof Readable ? payload : Readable.from([payload])
    return pipeline(source, compressor, () => underWay--)
  })
}

function varyByEncoding(reply: FastifyReply): void {
  const named = String(reply.getHeader('vary') ?? '')
  if (/accept-encoding/i.test(named)) return
  reply.header('vary', named === '' ? 'Accept-Encoding' : `${named}, Accept-Encoding`)
}

function isCompressible({ method, headers }: FastifyRequest, reply: FastifyReply, payload: unknown): boolean {
  if (method === 'HEAD' || headers.range !== undefined || [206, 304].includes(reply.statusCode)) return false
  if (reply.hasHeader('content-encoding') || !COMPRESSIBLE.test(String(reply.getHeader('content-type')))) return false
  if (typeof payload === 'string' || Buffer.isBuffer(payload)) return Buffer.byteLength(payload) >= LEAST_BYTES
  // A stream of unknown length is a large page or file.
  return payload instanceof Readable && Number(reply.getHeader('content-length') ?? LEAST_BYTES) >= LEAST_BYTES
}

/** The compression that a client likes best (`gzip;q=0.5, br`), of equal ones the smaller; `identity` without any. */
export function encodingFor(accepted: string): string {
  const qualities = new Map<string, number>()
  for (const one of accepted.toLowerCase().split(',')) {
    // By `;` alone: a pattern with spaces around it takes 0.2 s for 16 KiB of spaces.
    const [name = '', ...parameters] = one.split(';').map((part) => part.trim())
    const quality = parameters.find((parameter) => parameter.startsWith('q='))?.slice(2) ?? '1'
    qualities.set(name, Number(quality) || 0)
  }
  const qualityOf = (name: string) => qualities.get(name) ?? 0
  const [best = 'identity'] = Object.keys(ENCODINGS)
    .filter((name) => qualityOf(name) > 0)
    .toSorted((one, other) => qualityOf(other) - qualityOf(one))
  return best
}
