import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync } from 'node:fs'
import { request as openRequest } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { ErrorBody } from '@backoffice/contracts/errors.ts'
import { createServiceApp } from '@backoffice/http/server.ts'
import { assetUrl } from '@backoffice/runtime/asset-url.ts'
import { createLogger } from '@backoffice/runtime/logger.ts'
import { localStorage } from '@backoffice/storage/local-storage.ts'
import { STORED_BYTES } from '@backoffice/storage/stored-bytes.ts'
import { aCaller, headersOf, testVerifier } from '@backoffice/testing/caller.ts'
import { testDatabase } from '@backoffice/testing/database.ts'
import { eventually } from '@backoffice/testing/eventually.ts'
import { FORM } from '@backoffice/testing/form.ts'
import { serviceClient, type TestAnswer } from '@backoffice/testing/service-client.ts'
import { whenDone } from '@backoffice/testing/when-done.ts'
import sharp from 'sharp'
import { afterAll, beforeEach, describe, expect, it } from 'vitest'
import { imageWork } from './image-work.ts'
import { bombPng, formOf, noise, SVG, turnedPhoto, ZIP } from './testing/asset-samples.ts'
import { type Asset, uploadAsset } from './upload-asset.ts'

const directory = mkdtempSync(join(tmpdir(), 'backoffice-assets-'))
const storage = localStorage({ name: 'assets', directory })
await storage.start?.()
afterAll(() => rmSync(directory, { recursive: true }))
const { admin, db, takeStatements } = await testDatabase('catalog')
const logger = createLogger('test', 'silent')
const uploading = { db, logger, normalizeImage: imageWork(logger), storage, storedBytes: STORED_BYTES }
const send = serviceClient(db, [uploadAsset(uploading)])
let caller = aCaller()

beforeEach(() => {
  caller = aCaller()
})

const upload = <Body = Asset>(body: Buffer, headers = {}) =>
  send<Body>(caller, 'POST', '/v1/assets', body, { 'content-type': FORM, ...headers })
/** The stored file that a URL names. */
const stored = (url: string) => join(directory, url.slice(assetUrl('').length))
const filesOf = (workspaceId: string) =>
  readdirSync(directory, { recursive: true, withFileTypes: true }).filter(
    (entry) => entry.isFile() && entry.parentPath.includes(workspaceId),
  )

async function expectRefusal(answer: TestAnswer<ErrorBody>, status: number, code: string, message: string) {
  expect(answer.body.error).toMatchObject({ code, message: expect.stringContaining(message) })
  expect(answer.status).toBe(status)
  expect(await admin`select from asset where workspace_id = ${caller.workspaceId}`).toHaveLength(0)
  expect(filesOf(caller.workspaceId)).toEqual([])
  expect(readdirSync(storage.incoming)).toEqual([])
}

describe('an image (OP-18)', () => {
  it.each([
    ['jpeg', 'jpg'],
    ['png', 'png'],
    ['webp', 'webp'],
    ['gif', 'gif'],
    ['avif', 'avif'],
  ] as const)('%s is stored as what it is, with a thumbnail of 500×500', async (format, extension) => {
    const image = await noise(64, 32).toFormat(format).toBuffer()
    const { status, body } = await upload(formOf(image, `photo.${extension}`, `image/${format}`))
    const folder = assetUrl(`${caller.workspaceId}/${body.id}`)
    expect([status, body]).toEqual([
      201,
      {
        id: expect.stringMatching(/^[0-9a-f-]{36}$/),
        url: `${folder}/file.${extension}`,
        thumbnail: `${folder}/thumbnail.${extension}`,
        type: `image/${format}`,
        size: statSync(stored(body.url)).size,
      },
    ])
    const kind = format === 'avif' ? 'heif' : format
    expect(await sharp(stored(body.url)).metadata()).toMatchObject({ format: kind, width: 64, height: 32 })
    const thumbnail = await sharp(stored(body.thumbnail ?? '')).metadata()
    expect(thumbnail).toMatchObject({ format: kind, width: 500, height: 500 })
    expect(readdirSync(storage.incoming)).toEqual([])
  })

  it.each([
    [1, 1],
    [1, 4000],
    [4000, 1],
  ])('of %d×%d pixels gets a thumbnail of 500×500 too', async (width, height) => {
    const { body } = await upload(formOf(await noise(width, height).png().toBuffer()))
    expect(await sharp(stored(body.thumbnail ?? '')).metadata()).toMatchObject({ width: 500, height: 500 })
  })

  it('is put upright by its EXIF orientation, and loses that and all other metadata', async () => {
    const photo = await turnedPhoto()
    expect(photo.includes('SecretCam') && (await sharp(photo).metadata()).orientation).toBe(6)
    const { body } = await upload(formOf(photo))
    for (const url of [body.url, body.thumbnail ?? '']) {
      const file = readFileSync(stored(url))
      const { orientation, exif, icc, xmp, iptc } = await sharp(file).metadata()
      expect([orientation, exif, icc, xmp, iptc]).toEqual([undefined, undefined, undefined, undefined, undefined])
      expect(file.includes('SecretCam')).toBe(false)
      const { data } = await sharp(file).resize(1, 2, { fit: 'fill' }).raw().toBuffer({ resolveWithObject: true })
      const [topRed = 0, , topBlue = 0, bottomRed = 0, , bottomBlue = 0] = data
      expect([topRed > topBlue, bottomBlue > bottomRed]).toEqual([true, true])
    }
    expect(await sharp(stored(body.url)).metadata()).toMatchObject({ width: 60, height: 80 })
  })

  it.each(['gif', 'webp'] as const)('that moves goes on moving as %s; its thumbnail stands still', async (format) => {
    const frames = await Promise.all([1, 2, 3].map(() => noise(40, 30).png().toBuffer()))
    const moving = sharp(frames, { join: { animated: true } }).toFormat(format, { delay: [100, 200, 300], loop: 2 })
    const { body } = await upload(formOf(await moving.toBuffer()))
    const { pages, delay, loop, width, pageHeight } = await sharp(stored(body.url), { animated: true }).metadata()
    expect([pages, delay, loop, width, pageHeight]).toEqual([3, [100, 200, 300], 2, 40, 30])
    expect((await sharp(stored(body.thumbnail ?? '')).metadata()).pages ?? 1).toBe(1)
  })

  it('is told by its bytes, whatever its name and declared type', async () => {
    const png = await noise(8, 8).png().toBuffer()
    for (const [name, type] of [
      ['photo.jpg', 'image/jpeg'],
      ['terms.pdf', 'application/pdf'],
      ['page.html', 'text/html'],
    ]) {
      const { body } = await upload(formOf(png, name, type))
      expect([body.type, body.url.slice(-9)]).toEqual(['image/png', '/file.png'])
    }
  })

  it('loses what was hidden behind its end', async () => {
    const polyglot = Buffer.concat([await noise(8, 8).gif().toBuffer(), Buffer.from(SVG), ZIP])
    const { body } = await upload(formOf(polyglot, 'photo.gif'))
    expect(readFileSync(stored(body.url)).includes('script')).toBe(false)
  })
})

describe('an image that is refused with unprocessable, nothing stored', () => {
  const unreadable = 'file: cannot be taken as image/'

  it.each(['jpeg', 'png', 'webp', 'gif', 'avif'] as const)('a truncated %s', async (format) => {
    const image = await noise(300, 200).toFormat(format).toBuffer()
    for (const length of [image.length - 200, Math.floor(image.length / 2), 40]) {
      const answer = await upload<ErrorBody>(formOf(image.subarray(0, length), `photo.${format}`))
      await expectRefusal(answer, 422, 'unprocessable', unreadable)
    }
  })

  it('a corrupt one', async () => {
    const image = await noise(300, 200).png().toBuffer()
    image.fill(0x55, 1000, 3000)
    await expectRefusal(await upload(formOf(image)), 422, 'unprocessable', unreadable)
  })

  it('one that is nothing but a signature', async () => {
    const answer = await upload<ErrorBody>(formOf(Buffer.from('89504e470d0a1a0a0000000d49484452', 'hex')))
    await expectRefusal(answer, 422, 'unprocessable', unreadable)
  })

  it('an image bomb: 900 megapixels in 110 KB, told by its header', async () => {
    const bomb = bombPng(30_000, 30_000)
    expect(bomb.length).toBeLessThan(120_000)
    const message = 'file: cannot be taken as image/png: has 900 megapixels, more than 50 megapixels'
    await expectRefusal(await upload(formOf(bomb, 'photo.png')), 422, 'unprocessable', message)
  })

  it('a bomb of many frames', async () => {
    const frame = await sharp({ create: { width: 5000, height: 5000, channels: 3, background: 'red' } })
      .gif()
      .toBuffer()
    const start = frame.indexOf(Buffer.from([0x21, 0xf9]))
    const frames = Buffer.concat([frame.subarray(0, start), ...[1, 2, 3].map(() => frame.subarray(start, -1))])
    const answer = await upload<ErrorBody>(formOf(Buffer.concat([frames, Buffer.from(';')])))
    await expectRefusal(answer, 422, 'unprocessable', 'has 75 megapixels, more than 50 megapixels')
  })

  it.each([
    ['a zip named .png', ZIP, 'photo.png', 'application/octet-stream', 'is named photo.png but holds application/zip'],
    ['a zip declared one', ZIP, 'photo', 'image/jpeg', 'is declared image/jpeg but holds application/zip'],
    ['an SVG named .png', SVG, 'a.PNG', 'image/png', 'is named a.PNG and declared image/png but holds application/oct'],
    ['a page named .jpg', '<!doctype html><p>', 'a.jpg', 'text/html', 'is named a.jpg but holds application/octet-'],
    ['text named .gif', 'hello', 'a.gif', 'text/plain', 'is named a.gif but holds text/plain'],
  ])('%s', async (_what, content, name, type, message) => {
    await expectRefusal(await upload(formOf(content, name, type)), 422, 'unprocessable', `file: ${message}`)
  })

  it('one of a type that no browser shows', async () => {
    const answer = await upload<ErrorBody>(formOf(await noise(8, 8).tiff().toBuffer(), 'scan.tiff', 'image/tiff'))
    await expectRefusal(
      answer,
      422,
      'unprocessable',
      'file: holds image/tiff; images must be JPEG, PNG, WebP, GIF or AVIF',
    )
  })
})

describe('another file', () => {
  it.each([
    ['a zip', ZIP, 'application/zip', 'zip'],
    ['a PDF', Buffer.from('%PDF-1.7\n1 0 obj\n'), 'application/pdf', 'pdf'],
    ['text', Buffer.from('Grüße\n'.repeat(2000)), 'text/plain', 'txt'],
    ['anything else', Buffer.from([0, 1, 2, 3]), 'application/octet-stream', 'bin'],
    ['an SVG', Buffer.from(SVG), 'application/octet-stream', 'bin'],
    ['an SVG as text', Buffer.from(`\ufeff \n${SVG}`), 'application/octet-stream', 'bin'],
    ['XML', Buffer.from(`<?xml version="1.0"?>${SVG}`), 'application/octet-stream', 'bin'],
    ['a page', Buffer.from('<!DOCTYPE html><script>alert(1)</script>'), 'application/octet-stream', 'bin'],
    ['a page in UTF-16', Buffer.from('\ufeff<html>', 'utf16le'), 'application/octet-stream', 'bin'],
  ])('%s is stored as it is, without a thumbnail', async (_what, content, type, extension) => {
    const { status, body } = await upload(formOf(content, 'a.txt', 'text/html'))
    expect([status, body]).toMatchObject([201, { thumbnail: null, type, size: content.length }])
    expect(body.url).toMatch(new RegExp(`/file\\.${extension}$`))
    expect(readFileSync(stored(body.url)).equals(content)).toBe(true)
  })

  it('that is empty is bad_request', async () => {
    await expectRefusal(await upload(formOf('', 'photo.png', 'image/png')), 400, 'bad_request', 'file: is empty')
  })

  it('may have 20 MiB; one byte more is payload_too_large (OP-07)', async () => {
    const limit = 20 * 1024 * 1024
    expect((await upload(formOf(Buffer.alloc(limit)))).body.size).toBe(limit)
    caller = aCaller()
    const answer = await upload<ErrorBody>(formOf(Buffer.alloc(limit + 1)))
    await expectRefusal(answer, 413, 'payload_too_large', `file: is larger than ${limit} bytes`)
  })
})

it('refuses JSON with unsupported_media_type, and a form without a file with bad_request (OP-21)', async () => {
  const json = await send<ErrorBody>(caller, 'POST', '/v1/assets', { file: 'a' })
  await expectRefusal(json, 415, 'unsupported_media_type', 'Content-Type: must be multipart/form-data')
  await expectRefusal(await upload(formOf('a').subarray(0, 60)), 400, 'bad_request', 'body: is not well-formed')
})

it('needs the scope product::create', async () => {
  caller = aCaller({ scopes: ['product::read'] })
  await expectRefusal(await upload(formOf('a')), 403, 'insufficient_scope', 'product::create')
})

it('stores a file of any size in one statement, with one before and one after it that read the bytes of the workspace', async () => {
  takeStatements()
  await upload(formOf(await noise(600, 600).png().toBuffer()))
  expect(takeStatements().filter((text) => !/^\s*(begin|commit|select set_config)/.test(text))).toHaveLength(3)
})

describe('Idempotency-Key (OP-08)', () => {
  const once = { 'idempotency-key': 'once' }

  it('gives the same file sent again, also at once, one asset and one answer', async () => {
    const image = formOf(await noise(50, 50).png().toBuffer())
    const answers = await Promise.all([1, 2, 3].map(() => upload(image, once)))
    answers.push(await upload(image, once))
    expect(new Set(answers.map(({ status, body }) => `${status} ${body.id}`)).size).toBe(1)
    expect(
      filesOf(caller.workspaceId)
        .map(({ name }) => name)
        .sort(),
    ).toEqual(['file.png', 'thumbnail.png'])
    expect(await admin`select from asset where workspace_id = ${caller.workspaceId}`).toHaveLength(1)
  })

  it('refuses the key for another file with conflict, and keeps nothing of it', async () => {
    await upload(formOf('a'), once)
    const answer = await upload<ErrorBody>(formOf('b'), once)
    expect([answer.status, answer.body.error.code]).toEqual([409, 'conflict'])
    expect(filesOf(caller.workspaceId)).toHaveLength(1)
  })
})

describe('files beyond the bytes of a workspace are unprocessable, and nothing is stored', () => {
  const limited = serviceClient(db, [uploadAsset({ ...uploading, storedBytes: 1_000_000 })])
  const uploadLimited = <Body = ErrorBody>(bytes: number, headers = {}) =>
    limited<Body>(caller, 'POST', '/v1/assets', formOf(Buffer.alloc(bytes)), { 'content-type': FORM, ...headers })
  const storedBytes = async () => {
    const [row] = await admin<{ bytes: string }[]>`
      select bytes from stored_bytes where workspace_id = ${caller.workspaceId}`
    return Number(row?.bytes)
  }
  const message =
    'file: does not fit: the files of a workspace may have 0.001 GB in all; send a smaller one, or ask for more room'

  it('of two at once that fit one by one, one is taken', async () => {
    const answers = await Promise.all([uploadLimited(600_000), uploadLimited(600_000)])
    expect(answers.map(({ status }) => status).toSorted()).toEqual([201, 422])
    const refused = answers.find(({ status }) => status === 422)
    expect(refused?.body.error).toMatchObject({ code: 'unprocessable', message })
    expect([filesOf(caller.workspaceId).length, await storedBytes()]).toEqual([1, 600_000])
    expect((await uploadLimited(400_000)).status).toBe(201)
    expect((await uploadLimited(1)).status).toBe(422)
    caller = aCaller()
    expect((await uploadLimited(600_000)).status).toBe(201)
  })

  it('by the length of the request, before the file comes', async () => {
    await expectRefusal(await uploadLimited(1, { 'content-length': '3000000' }), 422, 'unprocessable', message)
  })

  it('but the repeated request gets its first answer (OP-08)', async () => {
    const once = { 'idempotency-key': 'once' }
    const [first, again] = [await uploadLimited(1_000_000, once), await uploadLimited(1_000_000, once)]
    expect([first.status, again]).toMatchObject([201, { status: 201, body: first.body }])
  })

  it('counting thumbnails, and assets of replicas that do not know of it, and no longer those that are deleted', async () => {
    const { body } = await upload(formOf(await noise(64, 32).png().toBuffer()))
    const image = filesOf(caller.workspaceId).reduce(
      (bytes, { parentPath, name }) => bytes + statSync(join(parentPath, name)).size,
      0,
    )
    expect(image).toBeGreaterThan(body.size)
    await admin`
      insert into asset (workspace_id, id, path, type, size, created_at)
      values (${caller.workspaceId}, uuidv7(), 'old', 'text/plain', 900000, now())`
    expect(await storedBytes()).toBe(900_000 + image)
    expect((await uploadLimited(100_001)).status).toBe(422)
    await admin`delete from asset where workspace_id = ${caller.workspaceId} and size = 900000`
    expect(await storedBytes()).toBe(image)
    expect((await uploadLimited(100_001)).status).toBe(201)
  })
})

it('writes no row when the storage fails', async () => {
  const full = { ...storage, put: async () => Promise.reject(new Error('no space left')) }
  const failing = serviceClient(db, [uploadAsset({ ...uploading, storage: full })])
  const answer = await failing<ErrorBody>(caller, 'POST', '/v1/assets', formOf('a'), { 'content-type': FORM })
  await expectRefusal(answer, 500, 'internal_error', 'Something went wrong')
})

it('leaves no file when the storage takes the image without its thumbnail', async () => {
  const put: typeof storage.put = (path, ...file) =>
    path.includes('/thumbnail.') ? Promise.reject(new Error('no answer')) : storage.put(path, ...file)
  const failing = serviceClient(db, [uploadAsset({ ...uploading, storage: { ...storage, put } })])
  const image = formOf(await noise(8, 8).png().toBuffer())
  const answer = await failing<ErrorBody>(caller, 'POST', '/v1/assets', image, { 'content-type': FORM })
  await expectRefusal(answer, 500, 'internal_error', 'Something went wrong')
})

it('leaves no file when PostgreSQL refuses its row', async () => {
  const isOther = `workspace_id <> '${caller.workspaceId}'`
  await admin.unsafe(`alter table asset add constraint refused check (${isOther}) not valid`)
  whenDone(() => admin`alter table asset drop constraint refused`)
  const answer = await upload<ErrorBody>(formOf(await noise(8, 8).png().toBuffer()))
  await expectRefusal(answer, 500, 'internal_error', 'Something went wrong')
})

it('leaves nothing of an upload that breaks off half-way', async () => {
  const app = createServiceApp({
    logger,
    db,
    operations: [uploadAsset(uploading)],
    verifyToken: testVerifier(),
  })
  await app.listen({ host: '127.0.0.1', port: 0 })
  const { port } = app.server.address() as AddressInfo
  const headers = { ...(await headersOf(caller)), 'content-type': FORM }
  const request = openRequest({ port, method: 'POST', path: '/v1/assets', headers })
  request.on('error', () => undefined)
  request.write(formOf(Buffer.alloc(500_000)).subarray(0, 300_000))
  const incoming = () => readdirSync(storage.incoming, { recursive: true }).map(String)
  await eventually('the file is being received', () => incoming().some((path) => path.endsWith('source')))
  request.destroy()
  await eventually('it is gone', () => incoming().length === 0)
  expect(filesOf(caller.workspaceId)).toEqual([])
  expect(await admin`select from asset where workspace_id = ${caller.workspaceId}`).toHaveLength(0)
  await app.close()
})
