import { execFile } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, readdirSync, rmSync } from 'node:fs'
import { request as openRequest } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import type { ErrorBody } from '@backoffice/contracts/errors.ts'
import { createServiceApp } from '@backoffice/http/server.ts'
import { createLogger } from '@backoffice/runtime/logger.ts'
import { localStorage } from '@backoffice/storage/local-storage.ts'
import { STORED_BYTES } from '@backoffice/storage/stored-bytes.ts'
import { aCaller, type Caller, headersOf, testVerifier } from '@backoffice/testing/caller.ts'
import { testDatabase } from '@backoffice/testing/database.ts'
import { eventually } from '@backoffice/testing/eventually.ts'
import { FORM } from '@backoffice/testing/form.ts'
import { serviceClient } from '@backoffice/testing/service-client.ts'
import { whenDone } from '@backoffice/testing/when-done.ts'
import sharp from 'sharp'
import { expect, it } from 'vitest'
import { imageWork, runImageProcess } from './image-work.ts'
import { commentsPng, copyImage, formOf, noise } from './testing/asset-samples.ts'
import { uploadAsset } from './upload-asset.ts'

const directory = mkdtempSync(join(tmpdir(), 'backoffice-images-'))
whenDone(() => rmSync(directory, { recursive: true }))
const storage = localStorage({ name: 'assets', directory })
await storage.start?.()
const { db } = await testDatabase('catalog')
const logger = createLogger('test', 'silent')
const operation = (run = runImageProcess) =>
  uploadAsset({ db, logger, normalizeImage: imageWork(logger, run), storage, storedBytes: STORED_BYTES })
const send = serviceClient(db, [operation()])
const upload = (caller: Caller, content: Buffer, by = send) =>
  by<ErrorBody>(caller, 'POST', '/v1/assets', formOf(content), { 'content-type': FORM })

it('ten images of one workspace wait for one process, and the image of another has one at once', async () => {
  const [png, jpeg] = [await noise(200, 200).png().toBuffer(), await noise(200, 200).jpeg().toBuffer()]
  const [many, other] = [aCaller(), aCaller()]
  const started: string[] = []
  const held = Promise.withResolvers<void>()
  whenDone(() => held.resolve())
  const run: typeof runImageProcess = async (type, ...rest) => {
    started.push(type)
    if (type === 'image/png') await held.promise
    return copyImage(type, ...rest)
  }
  const by = serviceClient(db, [operation(run)])
  const uploading = Array.from({ length: 10 }, () => upload(many, png, by))
  await eventually('they wait', () => readdirSync(storage.incoming).length === 10)
  expect((await upload(other, jpeg, by)).status).toBe(201)
  expect(started).toEqual(['image/png', 'image/jpeg'])
  held.resolve()
  await Promise.all(uploading)
})

it('an image that needs more memory than the limit is unprocessable, leaves nothing and holds up no other', async () => {
  const small = await noise(8, 8).png().toBuffer()
  const [bomb, fine] = await Promise.all([upload(aCaller(), commentsPng()), upload(aCaller(), small)])
  const message = 'file: cannot be taken as image/png: needs more than 2304 MiB of memory'
  expect([bomb.status, bomb.body.error]).toMatchObject([422, { code: 'unprocessable', message }])
  expect(fine.status).toBe(201)
  expect(readdirSync(storage.incoming)).toEqual([])
})

it('a WebP so dense that its first partition would overflow is written nevertheless', async () => {
  const inDirectory = (name: string) => join(directory, name)
  const [source, image, thumbnail] = [inDirectory('source'), inDirectory('image'), inDirectory('thumbnail')]
  await noise(4000, 4000).webp({ quality: 50, effort: 0 }).toFile(source)
  const script = fileURLToPath(new URL('./image-process.ts', import.meta.url))
  // Without `imageWork`, whose limit of 40 s a busy machine reaches.
  await promisify(execFile)(process.execPath, [script, 'webp', '50000000', source, image, thumbnail])
  expect(await sharp(image).metadata()).toMatchObject({ format: 'webp', width: 4000, height: 4000 })
})

it('16 files of one workspace are received at once, 32 more wait before they come, and another workspace finds room', async () => {
  const app = createServiceApp({ logger, db, operations: [operation()], verifyToken: testVerifier() })
  await app.listen({ host: '127.0.0.1', port: 0 })
  const { port } = app.server.address() as AddressInfo
  const headers = { ...(await headersOf(aCaller())), 'content-type': FORM }
  const target = { host: '127.0.0.1', port, method: 'POST', path: '/v1/assets', headers }
  const slow = Array.from({ length: 49 }, () => {
    const request = openRequest(target)
    request.on('error', () => undefined)
    request.write(formOf(Buffer.alloc(100)).subarray(0, -50))
    whenDone(() => void request.destroy())
    return request
  })
  const [refused] = await Promise.race(slow.map((request) => once(request, 'response')))
  expect([refused.statusCode, refused.headers['retry-after']]).toEqual([429, '1'])
  await eventually('16 are being received', () => readdirSync(storage.incoming).length === 16)
  const form = { 'content-type': FORM, ...(await headersOf(aCaller())) }
  const other = await app.inject({ method: 'POST', url: '/v1/assets', headers: form, payload: formOf('a') })
  expect(other.statusCode).toBe(201)
  for (const request of slow) request.destroy()
  await eventually('nothing is left', () => readdirSync(storage.incoming).length === 0)
  await app.close()
})
