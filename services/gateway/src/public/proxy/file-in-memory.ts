import { createHash } from 'node:crypto'
import { promisify } from 'node:util'
import { brotliCompress, constants, gzip } from 'node:zlib'
import type { FastifyReply, FastifyRequest } from 'fastify'
import { encodingFor } from './compress-answers.ts'

const brotli = promisify(brotliCompress)
const COMPRESSORS = {
  // The best quality takes ten times as long, while the first browser waits, and saves 7 % (measured).
  br: (content: Buffer) => brotli(content, { params: { [constants.BROTLI_PARAM_QUALITY]: 9 } }),
  gzip: promisify(gzip),
}

/** A file in memory, and its compressed forms once somebody has asked for them. */
export function fileInMemory(type: string, content: Buffer) {
  const compressed = new Map<string, Promise<Buffer>>()
  return {
    type,
    /** Weak: it is that of each encoding. */
    etag: `W/"${createHash('sha256').update(content).digest('base64url').slice(0, 22)}"`,
    content,
    /** The encoding, of those that a client accepts, in which the file is sent, and its bytes in it. */
    async in(encoding: string): Promise<readonly [encoding: string | undefined, bytes: Buffer]> {
      const compress = COMPRESSORS[encoding as keyof typeof COMPRESSORS]
      if (compress === undefined || /^image\/png|^font/.test(type)) return [undefined, content]
      const bytes = compressed.get(encoding) ?? compress(content)
      compressed.set(encoding, bytes)
      return [encoding, await bytes]
    },
  }
}
export type FileInMemory = ReturnType<typeof fileInMemory>

/** Sends a file in the encoding that the client likes best. */
export async function sendFile({ headers }: FastifyRequest, reply: FastifyReply, file: FileInMemory) {
  const [encoding, bytes] = await file.in(encodingFor(String(headers['accept-encoding'] ?? '')))
  if (encoding !== undefined) reply.headers({ 'content-encoding': encoding, vary: 'Accept-Encoding' })
  return reply.type(file.type).send(bytes)
}
