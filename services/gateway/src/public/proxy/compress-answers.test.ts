import { brotliDecompressSync, gunzipSync } from 'node:zlib'
import { request } from 'undici'
import { beforeEach, expect, it } from 'vitest'
import { testGateway } from '../../testing/test-gateway.ts'
import { encodingFor } from './compress-answers.ts'

const gateway = await testGateway()
const { key } = await gateway.aKey(['product'])
const large = JSON.stringify({ items: Array.from({ length: 200 }, (_, n) => ({ name: `Mug ${n}`, stock: n })) })

/** Answers every request of catalog with this. */
const answer = (body: string | Buffer, headers: Record<string, string | number> = {}, status = 200) => {
  gateway.catalog.answer = (_request, response) =>
    void response.writeHead(status, { 'content-type': 'application/json', ...headers }).end(body)
}
async function get(
  encoding: string | undefined,
  more: Record<string, string> = {},
  method: 'GET' | 'HEAD' = 'GET',
  onHead = () => {},
) {
  const { statusCode, headers, body } = await request(`${gateway.url}/v1/products`, {
    method,
    headers: {
      authorization: `Bearer ${key}`,
      ...(encoding !== undefined && { 'accept-encoding': encoding }),
      ...more,
    },
  })
  onHead()
  return { status: statusCode, headers, bytes: Buffer.from(await body.arrayBuffer()) }
}

beforeEach(() => answer(large, { etag: '"1"', 'content-length': Buffer.byteLength(large) }))

it.each([
  ['gzip, deflate', 'gzip', gunzipSync],
  ['gzip, deflate, br, zstd', 'br', brotliDecompressSync],
  ['br;q=0, GZIP;q=0.5', 'gzip', gunzipSync],
  ['br;q=0.5, gzip', 'gzip', gunzipSync],
] as const)(
  'an answer for a client with Accept-Encoding %s comes as %s (OP-268)',
  async (accepted, encoding, decompress) => {
    const { headers, bytes } = await get(accepted)
    expect(headers).toMatchObject({
      'content-encoding': encoding,
      'content-type': 'application/json',
      etag: 'W/"1"',
      vary: 'Authorization, X-Api-Key, Accept-Encoding',
    })
    expect(headers).not.toHaveProperty('content-length')
    expect(bytes.length).toBeLessThan(large.length / 3)
    expect(decompress(bytes).toString()).toBe(large)
  },
)

it.each([undefined, 'identity', 'deflate', 'gzip;q=0', '*'])('and one with %s as it is', async (accepted) => {
  const { headers, bytes } = await get(accepted)
  expect(headers).toMatchObject({ etag: '"1"', vary: 'Authorization, X-Api-Key, Accept-Encoding' })
  expect(headers).not.toHaveProperty('content-encoding')
  expect([Number(headers['content-length']), bytes.toString()]).toEqual([large.length, large])
})

it.each<[string, () => void, Record<string, string>]>([
  ['small', () => answer('{"id":1}', { 'content-length': 8 }), {}],
  ['an image', () => answer(large, { 'content-type': 'image/png' }), {}],
  ['a stream of events', () => answer(large, { 'content-type': 'text/event-stream' }), {}],
  ['compressed already', () => answer(large, { 'content-encoding': 'zstd' }), {}],
  ['a part', () => answer(large, { 'content-range': 'bytes 0-9/10' }, 206), {}],
  ['asked for in parts', () => answer(large), { range: 'bytes=0-' }],
])('an answer that is %s is never compressed', async (_what, given, headers) => {
  given()
  const { headers: answered } = await get('gzip, br', headers)
  expect(['gzip', 'br']).not.toContain(answered['content-encoding'])
})

it('reads a header of spaces in one pass', () => {
  expect(encodingFor(`a${' '.repeat(600_000)}b, gzip ; q=0.5`)).toBe('gzip')
})

it('compresses what has no length and documents, and leaves HEAD and 304 alone', async () => {
  answer(large)
  expect(gunzipSync((await get('gzip')).bytes).toString()).toBe(large)
  const docs = await request(`${gateway.url}/docs/swagger-ui.css`, { headers: { 'accept-encoding': 'br' } })
  expect(docs.headers).toMatchObject({ 'content-encoding': 'br', vary: 'Accept-Encoding' })
  await docs.body.dump()
  answer('', { etag: '"1"' }, 304)
  expect(await get('gzip')).toMatchObject({
    status: 304,
    headers: { etag: '"1"', vary: expect.stringMatching(/Accept-Encoding$/) },
  })
  answer('')
  expect((await get('gzip', {}, 'HEAD')).headers).not.toHaveProperty('content-encoding')
})

it('compresses 32 at a time, and forgets those whose client has left', async () => {
  const noise = Array.from({ length: 200_000 }, () => Math.random()).join()
  answer(noise)
  const open = await Promise.all(
    Array.from({ length: 40 }, () =>
      request(`${gateway.url}/v1/products`, {
        headers: { authorization: `Bearer ${key}`, 'accept-encoding': 'gzip' },
      }),
    ),
  )
  expect(open.filter(({ headers }) => headers['content-encoding'] === 'gzip')).toHaveLength(32)
  for (const { body } of open) body.on('error', () => undefined).destroy()
  answer(large)
  await expect.poll(async () => (await get('gzip')).headers['content-encoding']).toBe('gzip')
})

it.each([
  ['before anything was sent is a refusal that is not compressed', 'application/json', '', 503],
  ['before anything was sent is a refusal that nobody keeps', 'image/png', '', 503],
  ['midway closes the connection', 'application/json', large, 'closed'],
])('an answer that breaks off %s', async (_when, type, begun, expected) => {
  let breakOff = () => {}
  gateway.catalog.answer = (_request, response) => {
    const kept = {
      'cache-control': 'public, max-age=31536000, immutable',
      etag: '"1"',
      'content-disposition': 'inline',
    }
    response.writeHead(200, { 'content-type': type, ...kept }).flushHeaders()
    response.write(begun)
    breakOff = () => void response.destroy()
    if (begun === '') setTimeout(breakOff, 200)
  }
  const answered = await get('gzip', {}, 'GET', () => breakOff()).catch(() => undefined)
  expect(answered?.status ?? 'closed').toBe(expected)
  if (answered === undefined) return
  for (const name of ['content-encoding', 'etag', 'content-disposition'])
    expect(answered.headers).not.toHaveProperty(name)
  expect(answered.headers['cache-control']).toBe('private, no-store')
  expect(JSON.parse(answered.bytes.toString())).toMatchObject({ error: { code: 'service_unavailable' } })
})
