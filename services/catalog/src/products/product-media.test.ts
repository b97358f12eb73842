import { randomUUID } from 'node:crypto'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Product } from '@backoffice/contracts/product.ts'
import type { Caller } from '@backoffice/http/internal-token.ts'
import { createLogger } from '@backoffice/runtime/logger.ts'
import { localStorage } from '@backoffice/storage/local-storage.ts'
import { STORED_BYTES } from '@backoffice/storage/stored-bytes.ts'
import { aCaller } from '@backoffice/testing/caller.ts'
import { testDatabase } from '@backoffice/testing/database.ts'
import { FORM } from '@backoffice/testing/form.ts'
import { serviceClient } from '@backoffice/testing/service-client.ts'
import { afterAll, describe, expect, it } from 'vitest'
import { imageWork } from '../assets/image-work.ts'
import { formOf, noise } from '../assets/testing/asset-samples.ts'
import { type Asset, uploadAsset } from '../assets/upload-asset.ts'
import { createProduct } from './create-product.ts'
import { getProduct } from './get-product.ts'
import { aSimpleProduct } from './testing/product-samples.ts'

const directory = mkdtempSync(join(tmpdir(), 'backoffice-media-'))
const storage = localStorage({ name: 'assets', directory })
await storage.start?.()
afterAll(() => rmSync(directory, { recursive: true }))
const { admin, db } = await testDatabase('catalog')
const logger = createLogger('test', 'silent')
const send = serviceClient(db, [
  createProduct,
  getProduct,
  uploadAsset({ db, logger, normalizeImage: imageWork(logger), storage, storedBytes: STORED_BYTES }),
])

const create = <Body = Product>(caller: Caller, medias: unknown) =>
  send<Body>(caller, 'POST', '/v1/products', aSimpleProduct({ medias, category: { name: 'Cups' }, tags: ['New'] }))
async function upload(caller: Caller, content: string | Buffer = 'size chart') {
  const { body } = await send<Asset>(caller, 'POST', '/v1/assets', formOf(content), { 'content-type': FORM })
  return body
}

describe('media of a new product (OP-13, OP-36)', () => {
  it('are the uploaded files in the order of their positions, and read as they were answered', async () => {
    const caller = aCaller()
    const [chart, photo] = [await upload(caller), await upload(caller, await noise(8, 8).png().toBuffer())]
    const { status, body } = await create(caller, [
      { asset: chart.id, position: 7 },
      { asset: photo.id, position: 2 },
    ])
    const item = ({ url, thumbnail, type }: Asset) => ({ id: expect.any(String), url, thumbnail, type })
    expect(status).toBe(201)
    expect(body.media).toEqual([
      { ...item(photo), position: 2 },
      { ...item(chart), position: 7 },
    ])
    expect(body.media[1]?.thumbnail).toBeNull()
    expect((await send<Product>(caller, 'GET', `/v1/products/${body.id}`)).body).toEqual(body)
  })

  it('go to the end without a position; an asset named twice is shown once, where it was named last', async () => {
    const caller = aCaller()
    const [first, second] = [await upload(caller), await upload(caller)]
    const named = [{ asset: first.id }, { asset: second.id.toUpperCase() }, { asset: first.id, position: 5 }]
    const { body } = await create(caller, named)
    expect(body.media.map(({ url, position }) => [url, position])).toEqual([
      [second.url, 1],
      [first.url, 5],
    ])
  })

  it('go to the end also behind one at the greatest position: ties go by age', async () => {
    const caller = aCaller()
    const [first, second] = [await upload(caller), await upload(caller)]
    const { status, body } = await create(caller, [{ asset: first.id, position: 2_147_483_647 }, { asset: second.id }])
    expect([status, body.media.map(({ url, position }) => [url, position])]).toEqual([
      201,
      [
        [first.url, 2_147_483_647],
        [second.url, 2_147_483_647],
      ],
    ])
  })

  it('may be files that other products show', async () => {
    const caller = aCaller()
    const asset = await upload(caller)
    const [first, second] = [await create(caller, [{ asset: asset.id }]), await create(caller, [{ asset: asset.id }])]
    expect(second.body.media[0]).toEqual({ ...first.body.media[0], id: expect.any(String) })
    expect(second.body.media[0]?.id).not.toBe(first.body.media[0]?.id)
  })
})

describe('media that are refused with unprocessable, nothing applied', () => {
  async function expectRefusal(caller: Caller, medias: unknown, message: RegExp) {
    const answer = await create<{ error: { code: string; message: string } }>(caller, medias)
    expect([answer.status, answer.body.error.code]).toEqual([422, 'unprocessable'])
    expect(answer.body.error.message).toMatch(message)
    for (const table of ['product', 'variant', 'media', 'category', 'tag', 'outbox']) {
      const rows = await admin`select from ${admin(table)} where workspace_id = ${caller.workspaceId}`
      expect([table, rows.length]).toEqual([table, 0])
    }
  }

  it("another workspace's file, its sandbox's too", async () => {
    const [caller, other] = [aCaller(), aCaller({ livemode: false })]
    const [own, foreign] = [await upload(caller), await upload(other)]
    const medias = [{ asset: own.id }, { asset: foreign.id }]
    await expectRefusal(caller, medias, /^medias\[1\]\.asset: this workspace has no asset /)
  })

  it('a file that was never uploaded', async () => {
    await expectRefusal(aCaller(), [{ asset: randomUUID() }], /^medias\[0\]\.asset: this workspace has no asset /)
  })

  it('an item to reposition, since a new product has none', async () => {
    await expectRefusal(
      aCaller(),
      [{ id: randomUUID(), position: 0 }],
      /^medias\[0\]\.id: the product has no media item /,
    )
  })
})
