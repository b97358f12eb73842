import { createHash, randomBytes } from 'node:crypto'
import { request as openRequest } from 'node:http'
import { aCaller, headersOf } from '@backoffice/testing/caller.ts'
import { testDatabase } from '@backoffice/testing/database.ts'
import { eventually } from '@backoffice/testing/eventually.ts'
import { aFile, FORM, form } from '@backoffice/testing/form.ts'
import { afterEach, describe, expect, it } from 'vitest'
import { openApiDocument } from './openapi.ts'
import { refuseFile, type Stored, seen, storeFile } from './testing/files-api.ts'
import { createThing, expectRefusal, thingsApi } from './testing/things-api.ts'

const { admin, db } = await testDatabase('catalog')
const { port, send } = await thingsApi(db, { operations: [storeFile, refuseFile, createThing] })
const MIB = 1024 * 1024
const LIMIT = 5 * MIB

const post = (body: Buffer | Buffer[], contentType: string | null = FORM) =>
  send<Stored>('POST', '/v1/files', { body, contentType })
const inChunks = (body: Buffer, size = 65_536): Buffer[] =>
  Array.from({ length: Math.ceil(body.length / size) }, (_, index) => body.subarray(index * size, (index + 1) * size))
const written = async () => (await admin`select from outbox`).length

afterEach(async () => {
  await admin`truncate outbox, idempotency_key`
})

describe('a form with a file', () => {
  it('reaches the handler as a name, a type and bytes', async () => {
    const content = randomBytes(3 * MIB + 7)
    const { status, body } = await post(form(aFile(content, { fileName: 'Àdùké.png', type: 'image/png' })))
    const sha256 = createHash('sha256').update(content).digest('hex')
    expect(status).toBe(201)
    expect(body).toMatchObject({ name: 'Àdùké.png', declared_type: 'image/png', size: content.length, sha256 })
  })

  it('may have text members before the file, validated as a body is', async () => {
    const template = { name: 'template', content: 'products' }
    expect((await post(form(template, aFile('a')))).body.template).toBe('products')
    const tooLong = { ...template, content: 'x'.repeat(21) }
    expectRefusal(await post(form(tooLong, aFile('a'))), 400, 'bad_request', 'template: ')
    expectRefusal(await post(form(template, template, aFile('a'))), 400, 'bad_request', 'template: is there twice')
    expectRefusal(await post(form(aFile('a'), template)), 400, 'bad_request', 'template: no member may come after file')
  })

  it('loses the folders of a file name', async () => {
    expect((await post(form(aFile('a', { fileName: '../../etc/passwd' })))).body.name).toBe('passwd')
  })

  it('arrives in whatever chunks, and with something after its end', async () => {
    const body = Buffer.concat([form(aFile('a\r\n--x-boundary-7d1c2c1\r\n')), Buffer.from('epilogue')])
    const answer = await post(inChunks(body, 1))
    expect([answer.status, answer.body.size]).toEqual([201, 25])
  })

  it('starts to reach the handler before the rest is sent', async () => {
    const body = form(aFile('x'.repeat(200_000)))
    const request = openRequest({ port, method: 'POST', path: '/v1/files', headers: await headers() })
    const status = new Promise((resolve) => request.on('response', (response) => resolve(response.statusCode)))
    request.write(body.subarray(0, 100_000))
    await eventually('the start arrives', () => seen.bytes > 50_000 && seen.bytes < 100_000)
    request.end(body.subarray(100_000))
    expect(await status).toBe(201)
  })
})

describe('what is no such form', () => {
  it.each([
    ['application/json', '{}'],
    ['text/plain', 'a'],
    ['application/x-www-form-urlencoded', 'file=a'],
    ['multipart/mixed; boundary=x', '--x--'],
    ['multipart/form-datax; boundary=x', '--x--'],
    [null, 'a'],
  ])('a body of content type %s is unsupported_media_type (OP-21)', async (contentType, text) => {
    const answer = await post(Buffer.from(text), contentType)
    expectRefusal(answer, 415, 'unsupported_media_type', 'Content-Type: must be multipart/form-data')
  })

  it('a form for an operation that takes none is unsupported_media_type still (OP-21)', async () => {
    const answer = await send('POST', '/v1/things', { body: form(aFile('a')), contentType: FORM })
    expectRefusal(answer, 415, 'unsupported_media_type', 'Content-Type: must be application/json')
  })

  it.each<[string, Buffer, string]>([
    ['no members', form(), 'file: is missing'],
    ['only others', form({ name: 'template', content: 'a' }), 'file: is missing'],
    ['the file as text', form({ name: 'file', content: 'a' }), 'file: must be a file, sent with a file name'],
    ['a member nobody knows', form({ name: 'colour', content: 'red' }, aFile('a')), 'colour: unknown member'],
    ['__proto__', form({ name: '__proto__', content: 'red' }, aFile('a')), '__proto__: unknown member'],
    ['a file under another name', form(aFile('a', { name: 'image' })), 'image: unknown member'],
    ['two files', form(aFile('a'), aFile('b')), 'file: is there twice; send one file'],
    ['a second file under another name', form(aFile('a'), aFile('b', { name: 'image' })), 'image: unknown member'],
    ['a NUL in the file name', form(aFile('a', { fileName: 'a\0b' })), 'file: must not contain NUL characters'],
    [
      'a text member without end',
      form({ name: 'template', content: 'x'.repeat(20_000) }, aFile('a')),
      'template: is l',
    ],
    [
      'members without end',
      form(...Array.from({ length: 100 }, (_, n) => ({ name: `a${n}`, content: '' })), aFile('a')),
      'body: has more than 32 members',
    ],
  ])('%s is bad_request, nothing written', async (_what, body, message) => {
    expectRefusal(await post(body), 400, 'bad_request', message)
    expect(await written()).toBe(0)
  })

  const whole = form(aFile('x'.repeat(100)))
  it.each<[string, Buffer]>([
    ['that ends before its boundary', whole.subarray(0, whole.length - 10)],
    ['that ends within the file', whole.subarray(0, whole.length - 60)],
    ['that ends within the headers of the file', whole.subarray(0, 60)],
    ['that ends before its first part', Buffer.from('--x-boundary')],
    ['that is empty', Buffer.alloc(0)],
    ['that is something else', randomBytes(5000)],
    ['without a Content-Disposition', Buffer.from(whole.toString().replace('Content-Disposition', 'X'))],
  ])('a form %s is bad_request, nothing written', async (_how, body) => {
    const answer = await post(body)
    expectRefusal(answer, 400, 'bad_request', '')
    expect(await written()).toBe(0)
  })

  const boundary = form().indexOf('--\r\n')
  it.each([
    ['another file', form(aFile('b')).subarray(boundary)],
    ['no end', Buffer.from('-')],
  ])('%s that comes when all of the file has been read is bad_request still, nothing written', async (_what, rest) => {
    const request = openRequest({ port, method: 'POST', path: '/v1/files', headers: await headers() })
    const status = new Promise((resolve) => request.on('response', (response) => resolve(response.statusCode)))
    seen.bytes = 0
    request.write(form(aFile('x'.repeat(1000))).subarray(0, -4))
    await eventually('the file has arrived', () => seen.bytes === 1000)
    request.end(rest)
    expect(await status).toBe(400)
    expect(await written()).toBe(0)
  })

  it('a form without a boundary is bad_request', async () => {
    expectRefusal(await post(whole, 'multipart/form-data'), 400, 'bad_request', 'Content-Type: names no boundary')
  })
})

describe('size', () => {
  it('takes a file of exactly the limit, announced or chunked', async () => {
    const body = form(aFile(Buffer.alloc(LIMIT, 'x')))
    expect((await post(body)).body.size).toBe(LIMIT)
    expect((await post(inChunks(body))).body.size).toBe(LIMIT)
  })

  it.each([
    ['that Content-Length announces', form(aFile(Buffer.alloc(LIMIT + 2 * MIB)))],
    ['by one byte', form(aFile(Buffer.alloc(LIMIT + 1)))],
    ['that comes chunked', inChunks(form(aFile(Buffer.alloc(LIMIT + 1))))],
    ['that goes on long after', inChunks(form(aFile(Buffer.alloc(8 * LIMIT))))],
  ])('a file over the limit %s is payload_too_large, nothing written (OP-07)', async (_how, body) => {
    expectRefusal(await post(body), 413, 'payload_too_large', `file: is larger than ${LIMIT} bytes`)
    expect(await written()).toBe(0)
  })

  it('a file that is refused unread leaves the connection and the service in order', async () => {
    const body = inChunks(form(aFile(Buffer.alloc(4 * MIB))))
    expect((await send('POST', '/v1/refusals', { body, contentType: FORM })).status).toBe(500)
    expect((await post(form(aFile('a')))).status).toBe(201)
  })
})

it('a client that leaves half-way makes the content fail, and nothing is written', async () => {
  seen.failures.length = 0
  const request = openRequest({ port, method: 'POST', path: '/v1/files', headers: await headers() })
  request.on('error', () => undefined)
  request.write(form(aFile('x'.repeat(200_000))).subarray(0, 150_000))
  await eventually('the start arrives', () => seen.bytes > 50_000)
  request.destroy()
  await eventually('the content fails', () => seen.failures.length > 0)
  expect(seen.failures).toEqual([expect.stringContaining('the connection was closed before its end')])
  expect(await written()).toBe(0)
})

describe('Idempotency-Key (OP-08)', () => {
  const caller = aCaller()
  const again = (body: Buffer) =>
    send<Stored>('POST', '/v1/files', { caller, body, contentType: FORM, headers: { 'idempotency-key': 'once' } })

  it('answers the same file with the first answer; another file, name or member under the key is conflict', async () => {
    const first = await again(form(aFile('a')))
    const second = await again(form(aFile('a')))
    expect([second.status, second.body]).toEqual([201, first.body])
    const others = [
      form(aFile('b')),
      form(aFile('a', { fileName: 'b.txt' })),
      form({ name: 'template', content: 'a' }, aFile('a')),
    ]
    for (const other of others)
      expectRefusal(await again(other), 409, 'conflict', 'Idempotency-Key: was used for another')
    expect(await written()).toBe(1)
  })
})

it('is declared as a form with a required binary file in the OpenAPI document', () => {
  const { paths } = openApiDocument([storeFile, refuseFile]) as { paths: Record<string, { post: unknown }> }
  const schema = {
    type: 'object',
    properties: {
      template: { type: 'string' },
      file: { type: 'string', contentMediaType: 'application/octet-stream' },
    },
    required: ['file'],
    additionalProperties: false,
  }
  const requestBody = { required: true, content: { 'multipart/form-data': { schema } } }
  expect(paths['/v1/files']?.post).toMatchObject({ requestBody })
  expect(paths['/v1/refusals']?.post).not.toHaveProperty(
    'requestBody.content.multipart/form-data.schema.properties.template',
  )
})

async function headers() {
  return { ...(await headersOf(aCaller())), 'content-type': FORM }
}
