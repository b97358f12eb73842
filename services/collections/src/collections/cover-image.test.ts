import { randomUUID } from 'node:crypto'
import type { Collection } from '@backoffice/contracts/collection.ts'
import { assetUrl } from '@backoffice/runtime/asset-url.ts'
import { aCaller, type Caller, testSigner, testVerifier } from '@backoffice/testing/caller.ts'
import { startReceiver } from '@backoffice/testing/receiver.ts'
import { describe, expect, it } from 'vitest'
import { callsToCatalog } from '../calls-to-catalog.ts'
import { collectionsService } from '../testing/collections-api.ts'

/** A server that answers as the catalog does. */
const catalog = await startReceiver()
const calls = callsToCatalog(catalog.url, testSigner())
const { send, create, published } = await collectionsService(calls)

/** The catalog's only asset. */
function anAsset(members: { thumbnail_path: string | null } = { thumbnail_path: 'w/a/thumbnail.png' }) {
  const id = randomUUID()
  const found = JSON.stringify({ id, path: 'w/a/file.png', ...members })
  catalog.answerWith((response, { path }) => {
    if (path === `/internal/assets/${id}`) response.writeHead(200).end(found)
    else response.writeHead(404).end('{}')
  })
  return id
}

const put = (caller: Caller, id: string, body: unknown) =>
  send<Collection & { error?: { code: string; message: string } }>(caller, 'PUT', `/v1/collections/${id}`, body)
const shown = {
  image_url: assetUrl('w/a/file.png'),
  image_thumbnail: assetUrl('w/a/thumbnail.png'),
}

describe('image: the cover image’s asset id', () => {
  it('shows the picture and its thumbnail, on create and on update, in the event too', async () => {
    const caller = aCaller()
    const image = anAsset()
    const made = await create(caller, { image })
    expect(made).toMatchObject(shown)
    const other = await create(caller)
    expect((await put(caller, other.id, { image: image.toUpperCase() })).body).toMatchObject(shown)
    expect(await published(caller)).toMatchObject([{ payload: shown }, {}, { payload: shown }])
    expect((await send(caller, 'GET', `/v1/collections/${made.id}`)).body).toEqual(made)
  })

  it('the members are absent while there is none; null takes it away; what is not sent stays', async () => {
    const caller = aCaller()
    const bare = await create(caller)
    expect(Object.keys(bare)).not.toEqual(expect.arrayContaining(['image_url']))
    const { body } = await put(caller, bare.id, { image: anAsset() })
    expect((await put(caller, bare.id, { name: 'Winter' })).body).toMatchObject(shown)
    const without = await put(caller, bare.id, { image: null, name: 'Summer' })
    expect(without.body).toEqual({ ...bare, updated_at: without.body.updated_at })
    expect(body.image_url).toBe(shown.image_url)
  })

  it('the same one again changes nothing', async () => {
    const caller = aCaller()
    const image = anAsset()
    const { id } = await create(caller, { image })
    await put(caller, id, { image })
    expect(await published(caller)).toHaveLength(1)
  })

  it.each<[string, () => string]>([
    ['an asset the workspace does not have', () => anAsset() && randomUUID()],
    ['a file that is no picture', () => anAsset({ thumbnail_path: null })],
  ])('%s is unprocessable, and nothing is applied', async (_, asset) => {
    const caller = aCaller()
    const before = await create(caller)
    const image = asset()
    const { status, body } = await put(caller, before.id, { image, name: 'x' })
    expect([status, body.error?.code, body.error?.message]).toEqual([
      422,
      'unprocessable',
      `image: this workspace has no picture ${image}; upload it with POST /v1/assets`,
    ])
    expect((await send(caller, 'POST', '/v1/collections', { name: 'Other', image })).status).toBe(422)
    expect((await send(caller, 'GET', `/v1/collections/${before.id}`)).body).toEqual(before)
    expect(await published(caller)).toHaveLength(1)
  })

  it.each<[string, Parameters<typeof catalog.answerWith>[0]]>([
    ['fails', (response) => response.writeHead(503).end('{}')],
    ['answers nonsense', (response) => response.writeHead(200).end('<html>')],
    ['hangs up', (response) => response.destroy()],
  ])('while the catalog %s it is service_unavailable, and nothing is applied', async (_, answer) => {
    const caller = aCaller()
    const { id } = await create(caller)
    catalog.answerWith(answer)
    const { status, body } = await put(caller, id, { image: randomUUID(), name: 'x' })
    expect([status, body.error?.code]).toEqual([503, 'service_unavailable'])
    expect((await put(caller, id, { name: 'y' })).status).toBe(200)
  })

  it('is looked at after the collection: an unknown one is not_found, another tag precondition_failed', async () => {
    const caller = aCaller()
    const { id } = await create(caller)
    const body = { image: randomUUID() }
    for (const status of [404, 503]) {
      catalog.answerWith((response) => response.writeHead(status).end('{}'))
      expect((await put(caller, randomUUID(), body)).status).toBe(404)
      const stale = await send(caller, 'PUT', `/v1/collections/${id}`, body, { 'if-match': '"other"' })
      expect(stale.status).toBe(412)
    }
  })

  it('a repeated request gets its first answer, also while the catalog is away (OP-08)', async () => {
    const caller = aCaller()
    const [body, key] = [{ name: 'Summer', image: anAsset() }, { 'idempotency-key': 'key-1' }]
    const first = await send(caller, 'POST', '/v1/collections', body, key)
    catalog.answerWith((response) => response.writeHead(503).end('{}'))
    const again = await send(caller, 'POST', '/v1/collections', body, key)
    expect([again.status, again.body, again.headers['idempotent-replayed']]).toEqual([201, first.body, 'true'])
  })

  it('the catalog is asked in the workspace of the caller, with a token of this service', async () => {
    const caller = aCaller()
    await create(caller, { image: anAsset() })
    const token = String(catalog.requests.at(-1)?.headers['x-internal-token'])
    expect(await testVerifier('catalog')(token, new Date())).toMatchObject({
      isService: true,
      caller: { workspaceId: caller.workspaceId, scopes: [] },
    })
    expect(catalog.requests.at(-1)?.headers).toMatchObject({
      'x-request-id': expect.any(String),
      traceparent: expect.any(String),
    })
  })
})
