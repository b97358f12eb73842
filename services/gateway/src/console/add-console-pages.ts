import { notFound } from '@backoffice/contracts/errors.ts'
import { refuseOtherMethods } from '@backoffice/http/other-methods.ts'
import type { FastifyInstance } from 'fastify'
import { sendFile } from '../public/proxy/file-in-memory.ts'
import { readConsoleFiles } from './console-files.ts'

/** Adds the files of the console: its page, which is that of each of its addresses, and what the page loads. */
export function addConsolePages(app: FastifyInstance, folder: URL): void {
  const { page, assets } = readConsoleFiles(folder)
  for (const url of ['/console', '/console/*']) {
    app.get(url, (request, reply) => {
      reply.headers({ 'cache-control': 'no-cache', etag: page.etag })
      return request.headers['if-none-match'] === page.etag ? reply.code(304).send() : sendFile(request, reply, page)
    })
    refuseOtherMethods(app, url, ['GET'])
  }
  app.get<{ Params: { '*': string } }>('/console/assets/*', (request, reply) => {
    const name = request.params['*']
    const file = assets.get(name)
    if (file === undefined) throw notFound(['path'], 'there is no such file')
    // The names of all others change with their content.
    reply.header('cache-control', name === 'reload.js' ? 'public, max-age=3600' : 'public, max-age=31536000, immutable')
    return sendFile(request, reply, file)
  })
  refuseOtherMethods(app, '/console/assets/*', ['GET'])
}
