import type { Product } from '@backoffice/contracts/product.ts'
import { expect, it } from 'vitest'
import { PIXEL, upload, uploadRefused } from './testing/files.ts'
import { aProduct } from './testing/products.ts'
import { sharedStack } from './testing/stack.ts'
import { newWorkspace } from './testing/workspaces.ts'

const stack = await sharedStack()
const { gateway } = stack.description()
const { id: workspaceId, key, api } = await newWorkspace(stack.description())
const authorization = { authorization: `Bearer ${key}` }

it('an uploaded image is shown by a product, and served to whoever asks', async () => {
  const { status, body: asset } = await upload(gateway, authorization, PIXEL)
  expect([status, asset.type, asset.url.startsWith(`${gateway}/assets/${workspaceId}/`)]).toEqual([
    201,
    'image/png',
    true,
  ])
  const { body: product } = await api<Product>('POST', '/v1/products', aProduct({ medias: [{ asset: asset.id }] }))
  expect(product.media).toMatchObject([{ url: asset.url, thumbnail: asset.thumbnail, type: 'image/png', position: 0 }])
  const image = await fetch(asset.url)
  expect([image.status, image.headers.get('content-type'), (await image.bytes()).length]).toEqual([
    200,
    'image/png',
    asset.size,
  ])
  expect(image.headers.get('cache-control')).toBe('public, max-age=31536000, immutable')
  const etag = image.headers.get('etag') ?? ''
  expect((await fetch(asset.url, { headers: { 'if-none-match': etag } })).status).toBe(304)
  const part = await fetch(asset.thumbnail ?? '', { headers: { range: 'bytes=0-3' } })
  expect([part.status, Buffer.from(await part.bytes()).toString('latin1')]).toEqual([206, '\x89PNG'])
})

it('a file of 20 MiB gets through, a larger one and one without a key do not (OP-07)', async () => {
  const limit = 20 * 1024 * 1024
  expect((await upload(gateway, authorization, new Uint8Array(limit), 'a.bin')).body.size).toBe(limit)
  const larger = await uploadRefused(gateway, authorization, new Uint8Array(limit + 1), 'a.bin')
  expect([larger.status, larger.body.error.code]).toEqual([413, 'payload_too_large'])
  const anybody = await uploadRefused(gateway, {}, PIXEL)
  expect([anybody.status, anybody.body.error.code]).toEqual([401, 'invalid_api_key'])
})
