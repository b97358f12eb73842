import type { IncomingHttpHeaders } from 'node:http'
import { badRequest, errorAnswer, notFound } from '@backoffice/contracts/errors.ts'
import { namesTag } from '@backoffice/http/entity-tag.ts'
import { refuseOtherMethods } from '@backoffice/http/other-methods.ts'
import type { createServiceApp } from '@backoffice/http/server.ts'
import type { FileStorage } from '@backoffice/storage/file-storage.ts'
import { isImage, TEXT_TYPE, typeOf } from './asset-types.ts'
import { byteRange } from './byte-range.ts'

/** Matches the request target as it was sent, without decoding, so that no encoded character can pass. */
const TARGET = /^\/assets\/([0-9a-f-]{36}\/([0-9a-f-]{36})\/(file|thumbnail)\.([a-z0-9]+))$/

/**
 * Serves stored files to any client with their URL (OP-91). They never change, so clients may cache them for a year.
 * Images are shown inline and others downloaded; none may run scripts.
 */
export function addAssetFiles(app: ReturnType<typeof createServiceApp>, storage: FileStorage): void {
  app.route({
    method: ['GET', 'HEAD'],
    url: '/assets/*',
    handler: async ({ raw, method, id }, reply) => {
      const file = fileOf(raw.url ?? '')
      if (namesTag(raw.headers['if-none-match'] ?? '', file.tag))
        return reply.code(304).headers(keptForever(file)).send()
      const size = await storage.size(file.path)
      if (size === undefined) throw noSuchFile()
      const range = method === 'GET' ? rangeOf(raw.headers, file, size) : undefined
      if (range === 'unsatisfiable') {
        const { headers, body } = errorAnswer(badRequest(['Range'], `the file has ${size} bytes`), id)
        reply.code(416).headers({ ...headers, 'content-range': `bytes */${size}`, 'cache-control': 'no-store' })
        return reply.send(body)
      }
      const { start, end } = range ?? { start: 0, end: size - 1 }
      if (range !== undefined) reply.code(206).header('content-range', `bytes ${start}-${end}/${size}`)
      reply.headers({ ...headersOf(file), 'content-length': end - start + 1 })
      return reply.send(method === 'HEAD' ? undefined : await storage.read(file.path, { start, end }))
    },
  })
  refuseOtherMethods(app, '/assets/*', ['GET'])
}

/** A stored file. Its entity tag is made of the path, because the file at a path never changes. */
function fileOf(target: string) {
  const [, path = '', asset = '', name = '', extension = ''] = TARGET.exec(target) ?? []
  const type = typeOf(extension)
  if (type === undefined) throw noSuchFile()
  return { path, type, tag: `"${asset}-${name}"` }
}
type StoredFile = ReturnType<typeof fileOf>

/** The requested part. Undefined, for the whole file, when If-Range names another version. */
function rangeOf(headers: IncomingHttpHeaders, { tag }: StoredFile, size: number) {
  const condition = headers['if-range']
  return condition === undefined || condition === tag ? byteRange(headers.range, size) : undefined
}

const keptForever = ({ tag }: StoredFile) => ({ etag: tag, 'cache-control': 'public, max-age=31536000, immutable' })

const headersOf = (file: StoredFile) => ({
  ...keptForever(file),
  'accept-ranges': 'bytes',
  'content-type': file.type === TEXT_TYPE ? 'text/plain; charset=utf-8' : file.type,
  'content-disposition': isImage(file.type) ? 'inline' : 'attachment',
  'content-security-policy': "sandbox; default-src 'none'",
  'x-content-type-options': 'nosniff',
})

const noSuchFile = () => notFound(['path'], 'there is no such file')
