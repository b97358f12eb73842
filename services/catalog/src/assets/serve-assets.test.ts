import { randomUUID } from 'node:crypto'
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { type IncomingMessage, request as openRequest } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { buffer } from 'node:stream/consumers'
import { createServiceApp } from '@backoffice/http/server.ts'
import { createLogger } from '@backoffice/runtime/logger.ts'
import { localStorage } from '@backoffice/storage/local-storage.ts'
import { testVerifier } from '@backoffice/testing/caller.ts'
import { testDatabase } from '@backoffice/testing/database.ts'
import { eventually } from '@backoffice/testing/eventually.ts'
import { afterAll, describe, expect, it, vi } from 'vitest'
import { addAssetFiles } from './serve-assets.ts'

const directory = mkdtempSync(join(tmpdir(), 'backoffice-assets-'))
const storage = localStorage({ name: 'assets', directory })
await storage.start?.()
const { db } = await testDatabase('catalog')
const app = createServiceApp({
  logger: createLogger('test', 'silent'),
  db,
  operations: [],
  verifyToken: testVerifier(),
})
addAssetFiles(app, storage)
await app.listen({ host: '127.0.0.1', port: 0 })
const { port } = app.server.address() as AddressInfo
afterAll(async () => {
  await app.close()
  rmSync(directory, { recursive: true })
})

/** Sends a request line as it is: no client resolves dots in it. */
async function send(path: string, headers = {}, method = 'GET') {
  const request = openRequest({ port, method, path, headers, agent: false }).end()
  const response = await new Promise<IncomingMessage>((resolve, reject) => {
    request.on('response', resolve).on('error', reject)
  })
  return { status: response.statusCode, headers: response.headers, body: await buffer(response) }
}

/** Stores a file as an upload does; returns its path. */
async function aStored(name: string, content: string | Buffer = '0123456789') {
  const path = `${randomUUID()}/${randomUUID()}/${name}`
  const file = join(storage.incoming, randomUUID())
  writeFileSync(file, content)
  await storage.put(path, file, 'image/png')
  return `/assets/${path}`
}

describe('a stored file (OP-91)', () => {
  it('is served without any key, to be kept for a year', async () => {
    const path = await aStored('file.png')
    const { status, headers, body } = await send(path)
    expect([status, body.toString()]).toEqual([200, '0123456789'])
    expect(headers).toMatchObject({
      'content-type': 'image/png',
      'content-length': '10',
      'content-disposition': 'inline',
      'cache-control': 'public, max-age=31536000, immutable',
      'accept-ranges': 'bytes',
      etag: expect.stringMatching(/^"[0-9a-f-]{36}-file"$/),
      'x-content-type-options': 'nosniff',
      'content-security-policy': "sandbox; default-src 'none'",
    })
  })

  it.each(['jpg', 'png', 'webp', 'gif', 'avif'])('is shown inline as an image: %s', async (extension) => {
    const { headers } = await send(await aStored(`thumbnail.${extension}`))
    expect([headers['content-disposition'], headers['content-type']]).toEqual([
      'inline',
      `image/${extension.replace('jpg', 'jpeg')}`,
    ])
  })

  it.each([
    ['pdf', 'application/pdf'],
    ['zip', 'application/zip'],
    ['txt', 'text/plain; charset=utf-8'],
    ['bin', 'application/octet-stream'],
  ])('is a download as %s, whatever it holds', async (extension, type) => {
    const { headers } = await send(await aStored(`file.${extension}`, '<svg><script>alert(1)</script></svg>'))
    expect(headers).toMatchObject({
      'content-disposition': 'attachment',
      'content-type': type,
      'x-content-type-options': 'nosniff',
      'content-security-policy': "sandbox; default-src 'none'",
    })
  })

  it('is not sent again to who has it', async () => {
    const path = await aStored('file.png')
    const { headers } = await send(path)
    const { etag } = headers
    for (const tags of [etag, `W/${etag}`, `"other", ${etag}`]) {
      const { status, headers, body } = await send(path, { 'if-none-match': tags })
      expect([status, headers.etag, body.length]).toEqual([304, etag, 0])
      expect(headers['cache-control']).toContain('immutable')
    }
    expect((await send(path, { 'if-none-match': '"other"' })).status).toBe(200)
    expect((await send(path.replace('file.', 'thumbnail.'), { 'if-none-match': etag })).status).toBe(404)
  })

  it('answers HEAD without regard to Range, which is defined for GET alone (RFC 9110)', async () => {
    for (const range of ['bytes=0-1', 'bytes=10-']) {
      const { status, headers } = await send(await aStored('file.mp4'), { range }, 'HEAD')
      expect([status, headers['content-length'], headers['content-range']]).toEqual([200, '10', undefined])
    }
  })

  it('answers HEAD as GET without the body', async () => {
    const { status, headers, body } = await send(await aStored('file.png'), {}, 'HEAD')
    expect([status, headers['content-length'], body.length]).toEqual([200, '10', 0])
  })

  it.each([
    ['bytes=2-4', 'bytes 2-4/10', '234'],
    ['bytes=8-', 'bytes 8-9/10', '89'],
    ['bytes=-3', 'bytes 7-9/10', '789'],
  ])('is sent in parts: %s', async (range, sent, content) => {
    const { status, headers, body } = await send(await aStored('file.mp4'), { range })
    expect([status, headers['content-range'], body.toString()]).toEqual([206, sent, content])
    expect(headers['content-length']).toBe(String(content.length))
  })

  it('answers a part it does not have with 416, which nobody keeps', async () => {
    const { status, headers, body } = await send(await aStored('file.mp4'), { range: 'bytes=10-' })
    expect([status, headers['content-range'], headers['cache-control']]).toEqual([416, 'bytes */10', 'no-store'])
    expect(JSON.parse(body.toString()).error).toMatchObject({
      code: 'bad_request',
      message: expect.stringMatching('Range'),
    })
  })

  it('is sent whole when the part asked for is of another version', async () => {
    const path = await aStored('file.mp4')
    const { headers } = await send(path)
    const range = 'bytes=0-1'
    expect((await send(path, { range, 'if-range': headers.etag })).status).toBe(206)
    expect((await send(path, { range, 'if-range': '"other"' })).status).toBe(200)
  })

  it('is not read on when the client leaves', async () => {
    const path = await aStored('file.bin', Buffer.alloc(64 * 1024 * 1024))
    const request = openRequest({ port, path, agent: false }).end()
    request.on('error', () => undefined)
    await new Promise((resolve) => request.on('response', resolve))
    request.destroy()
    await eventually('the connection is gone', async () => {
      const connections = await new Promise<number>((resolve) =>
        app.server.getConnections((_, count) => resolve(count)),
      )
      return connections === 0
    })
  })
})

it('a file that cannot be read is refused, and nobody keeps the refusal', async () => {
  const path = await aStored('file.png')
  const reading = vi.spyOn(storage, 'read').mockRejectedValue(new Error('the storage is away'))
  const { status, headers } = await send(path)
  reading.mockRestore()
  expect([status, headers['cache-control'], headers.etag]).toEqual([500, 'private, no-store', undefined])
})

describe('what is no stored file', () => {
  const [workspace, asset] = [randomUUID(), randomUUID()]
  mkdirSync(join(directory, workspace, asset), { recursive: true })
  writeFileSync(join(directory, workspace, asset, 'file.png'), 'x')
  writeFileSync(join(directory, 'secret.png'), 'secret')

  it.each([
    `/assets/${workspace}/${randomUUID()}/file.png`,
    `/assets/${randomUUID()}/${asset}/file.png`,
    `/assets/${workspace}/${asset}/thumbnail.png`,
    `/assets/${workspace}/${asset}/file.jpg`,
    `/assets/${workspace}/${asset}/file.PNG`,
    `/assets/${workspace}/${asset}/file.png/`,
    `/assets/${workspace}/${asset}/file.png%00.jpg`,
    `/assets/${workspace}/${asset}/`,
    `/assets/${workspace}/${asset}`,
    `/assets/${workspace}`,
    '/assets/',
    '/assets/secret.png',
    `/assets/${workspace}/${asset}/../../secret.png`,
    `/assets/${workspace}/${asset}/%2e%2e/%2e%2e/secret.png`,
    `/assets/${workspace}/${asset}/%252e%252e/%252e%252e/secret.png`,
    `/assets/${workspace}/${asset}/..%2f..%2fsecret.png`,
    `/assets/${workspace}/${asset}/..\\..\\secret.png`,
    `/assets/${workspace}/${asset}/..%5c..%5csecret.png`,
    `/assets/..%00/secret.png`,
    '/assets//etc/passwd',
    '/assets/%2fetc%2fpasswd',
    '/assets/../../../../../../etc/passwd',
    `/assets/${'-'.repeat(36)}/${'.'.repeat(36)}/file.png`,
    '/assets/incoming/x/file.png',
  ])('%s is not_found, which nobody keeps', async (path) => {
    const { status, headers, body } = await send(path)
    expect([status, headers['cache-control'], headers.etag]).toEqual([404, undefined, undefined])
    expect(JSON.parse(body.toString())).toEqual({
      error: { code: 'not_found', message: expect.any(String), request_id: headers['x-request-id'] },
    })
  })

  it('a malformed target is bad_request', async () => {
    const { status, body } = await send('/assets/%zz')
    expect([status, JSON.parse(body.toString()).error.code]).toEqual([400, 'bad_request'])
  })

  it.each(['POST', 'PUT', 'DELETE', 'OPTIONS'])('%s is method_not_allowed', async (method) => {
    const { status, headers } = await send(`/assets/${workspace}/${asset}/file.png`, {}, method)
    expect([status, headers.allow]).toEqual([405, 'GET, HEAD'])
  })
})
