import { mkdirSync, mkdtempSync, readdirSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { startS3Server } from '@backoffice/testing/servers/s3-server.ts'
import { afterAll, expect, it } from 'vitest'
import { PIXEL, upload, uploadRefused } from './testing/files.ts'
import { startStack } from './testing/stack.ts'
import { newWorkspace } from './testing/workspaces.ts'

const directory = mkdtempSync(join(tmpdir(), 'backoffice-s3-'))
const bucket = join(directory, 'buckets', 'assets')
mkdirSync(bucket, { recursive: true })
const s3 = await startS3Server({ directory })
afterAll(async () => {
  await s3.stop()
  rmSync(directory, { recursive: true })
})
const stack = await startStack({
  S3_ENDPOINT: s3.url,
  S3_BUCKET: 'assets',
  AWS_ACCESS_KEY_ID: s3.accessKey,
  AWS_SECRET_ACCESS_KEY: s3.secretKey,
})
const { gateway } = stack.description()
const { id: workspaceId, key } = await newWorkspace(stack.description())
const authorization = { authorization: `Bearer ${key}` }
const objects = () =>
  readdirSync(bucket, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile()).length

it('keeps an image and its thumbnail in the bucket, and serves them from there', async () => {
  const { status, body: asset } = await upload(gateway, authorization, PIXEL)
  expect([status, objects()]).toEqual([201, 2])
  const image = await fetch(asset.url)
  expect([image.status, image.headers.get('content-type'), (await image.bytes()).length]).toEqual([
    200,
    'image/png',
    asset.size,
  ])
  const thumbnail = await fetch(asset.thumbnail ?? '', { method: 'HEAD' })
  expect([thumbnail.status, Number(thumbnail.headers.get('content-length')) > 0]).toEqual([200, true])
  expect((await fetch(asset.url.replace('.png', '.gif'))).status).toBe(404)
})

it('serves the parts of a file that are asked for, whatever its size', async () => {
  const content = Buffer.alloc(20 * 1024 * 1024, '0123456789')
  const { body: asset } = await upload(gateway, authorization, new Uint8Array(content), 'a.bin')
  const part = await fetch(asset.url, { headers: { range: 'bytes=10000000-10000003' } })
  expect([part.status, await part.text(), part.headers.get('content-range')]).toEqual([
    206,
    '0123',
    `bytes 10000000-10000003/${content.length}`,
  ])
  expect(Buffer.from(await (await fetch(asset.url)).bytes()).equals(content)).toBe(true)
})

it('keeps nothing of an upload that is sent again under its key', async () => {
  const headers = { ...authorization, 'idempotency-key': 'once' }
  const before = objects()
  const [first, second] = [await upload(gateway, headers, PIXEL), await upload(gateway, headers, PIXEL)]
  expect([second.status, second.body]).toEqual([201, first.body])
  expect(objects()).toBe(before + 2)
})

it('is service_unavailable while the bucket cannot be reached, no row is written, and it comes back', async () => {
  const { body: asset } = await upload(gateway, authorization, PIXEL)
  const rows = () => stack.sql`select id from catalog.asset where workspace_id = ${workspaceId}`
  const before = await rows()
  await s3.kill()
  const refused = await uploadRefused(gateway, authorization, PIXEL)
  expect([refused.status, refused.body.error.code]).toEqual([503, 'service_unavailable'])
  const read = await fetch(asset.url)
  expect([read.status, read.headers.get('cache-control')]).toEqual([503, null])
  expect(await rows()).toEqual(before)
  await s3.start()
  expect((await fetch(asset.url)).status).toBe(200)
  expect((await upload(gateway, authorization, PIXEL)).status).toBe(201)
})
