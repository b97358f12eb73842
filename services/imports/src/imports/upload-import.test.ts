import { randomUUID } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { request as openRequest } from 'node:http'
import type { AddressInfo } from 'node:net'
import { text } from 'node:stream/consumers'
import { gzipSync } from 'node:zlib'
import type { ErrorBody } from '@backoffice/contracts/errors.ts'
import type { Import } from '@backoffice/contracts/import.ts'
import { LIMITS } from '@backoffice/contracts/limits.ts'
import type { ServiceLimits } from '@backoffice/contracts/usage.ts'
import type { Caller } from '@backoffice/http/internal-token.ts'
import { createServiceApp } from '@backoffice/http/server.ts'
import { createLogger } from '@backoffice/runtime/logger.ts'
import { STORED_BYTES } from '@backoffice/storage/stored-bytes.ts'
import { aCaller, headersOf, testVerifier } from '@backoffice/testing/caller.ts'
import { eventually } from '@backoffice/testing/eventually.ts'
import { aFile, FORM, form } from '@backoffice/testing/form.ts'
import type { TestAnswer } from '@backoffice/testing/service-client.ts'
import { beforeEach, describe, expect, it } from 'vitest'
import type { z } from 'zod'
import { OLD_WORKBOOK, PNG, workbook } from '../files/testing/binary-files.ts'
import { importsApi, productsForm } from '../testing/imports-api.ts'
import { UPLOADS } from './upload-import.ts'

const { admin, db, declared, files, send, takeStatements, takeWoken, upload } = await importsApi()
let caller = aCaller()

beforeEach(() => {
  caller = aCaller()
  takeWoken()
})

const rows = () => admin`select id from import where workspace_id = ${caller.workspaceId}`
const template = (content: string) => ({ name: 'template', content })

async function expectRefusal(answer: TestAnswer<ErrorBody>, status: number, code: string, message: string) {
  expect(answer.body.error).toMatchObject({ code, message: expect.stringContaining(message) })
  expect(answer.status).toBe(status)
  expect([await rows(), await files(caller), takeWoken()]).toEqual([[], [], []])
}

it('stores the file as it is and answers 202 with the import; its validation begins (OP-01, OP-50)', async () => {
  const { status, body } = await upload(caller, productsForm('sku\r\nA\r\n', 'my products.csv'))
  expect([status, body]).toEqual([
    202,
    {
      id: expect.stringMatching(/^[0-9a-f-]{36}$/),
      template: 'products',
      file: 'my products.csv',
      status: 'UPLOADED',
      total_rows: 0,
      processed_rows: 0,
      created_at: expect.any(String),
      updated_at: body.created_at,
    },
  ])
  const [stored = '', ...others] = await files(caller)
  expect([stored, others]).toEqual([expect.stringContaining(`${caller.workspaceId}/${body.id}/`), []])
  expect(readFileSync(stored, 'utf8')).toBe('sku\r\nA\r\n')
  expect(takeWoken()).toEqual(['validation'])
})

describe('the name of the file is shown without folders and control characters', () => {
  it.each([
    ['C:\\Users\\ada\\products.csv', 'products.csv'],
    ['../../etc/passwd', 'passwd'],
    ['/tmp/a\u0007b\u202e.csv', 'ab.csv'],
    ['Preisliste Größe 日本.csv', 'Preisliste Größe 日本.csv'],
    ['folder/', 'upload.csv'],
    ['\u0001', 'upload.csv'],
    [`${'x'.repeat(300)}.csv`, 'x'.repeat(255)],
    [`${'x'.repeat(254)}😀.csv`, `${'x'.repeat(254)}\ufffd`],
  ])('%j → %j', async (name, shown) => {
    expect((await upload(caller, productsForm('sku\n', name))).body.file).toBe(shown)
  })
})

describe('a file that is no CSV is refused, and nothing is stored (OP-21)', () => {
  const excel = 'file: is an Excel workbook; export it as CSV'

  it.each([
    ['an empty file', '', 'rows.csv', 400, 'bad_request', 'file: is empty; send a CSV file with a header and rows'],
    ['a workbook', workbook(), 'rows.xlsx', 422, 'unprocessable', excel],
    ['an old workbook', OLD_WORKBOOK, 'rows.xls', 422, 'unprocessable', excel],
    ['a PNG', PNG, 'rows.csv', 422, 'unprocessable', 'file: holds image/png; send a CSV file'],
    ['a gzip', gzipSync('sku\n'), 'rows.csv.gz', 422, 'unprocessable', 'file: holds application/gzip; send a CSV file'],
  ])('%s', async (_what, content, name, status, code, message) => {
    await expectRefusal(await upload(caller, productsForm(content, name)), status, code, message)
  })
})

describe('a form that is not template, then file, is bad_request, and nothing is stored', () => {
  const known = 'one of products, product_variants, stock, categories, customers, collections'
  const missing = `template: is missing; send it before the file: ${known}`
  const csv = aFile('sku\nA\n')

  it.each([
    ['without a template', form(csv), missing],
    ['an unknown template', form(template('orders'), csv), `template: must be ${known}`],
    ['the template after the file', form(csv, template('products')), missing],
    ['a second template', form(template('products'), template('stock'), csv), 'template: is there twice'],
    ['an unknown member', form(template('products'), { name: 'mode', content: 'x' }, csv), 'mode: unknown member'],
    ['without a file', form(template('products')), 'file: is missing'],
    ['a file without a name', form(template('products'), { name: 'file', content: 'sku\n' }), 'file: must be a file'],
    ['two files', form(template('products'), csv, csv), 'file: is there twice; send one file'],
    [
      'a member after the file',
      form(template('products'), csv, template('stock')),
      'template: no member may come after file',
    ],
    [
      'a form that ends too early',
      productsForm('sku\n').subarray(0, -20),
      'body: is not well-formed multipart/form-data',
    ],
  ])('%s', async (_what, body, message) => {
    await expectRefusal(await upload(caller, body), 400, 'bad_request', message)
  })
})

it('refuses JSON with unsupported_media_type (OP-21)', async () => {
  const answer = await send<ErrorBody>(caller, 'POST', '/v1/imports', { template: 'products' })
  await expectRefusal(answer, 415, 'unsupported_media_type', 'Content-Type: must be multipart/form-data')
})

it('needs the scope import::create', async () => {
  caller = aCaller({ scopes: ['import::read', 'product::create'] })
  await expectRefusal(await upload(caller), 403, 'insufficient_scope', 'import::create')
})

it('refuses a request of more than 1 GiB by its length, before it comes (OP-07)', async () => {
  const length = String(LIMITS.importBytes + 2 * 1024 * 1024)
  const answer = await upload<ErrorBody>(caller, productsForm('sku\n'), { 'content-length': length })
  await expectRefusal(answer, 413, 'payload_too_large', `file: is larger than ${LIMITS.importBytes} bytes`)
})

it('writes one row in one statement, with two before and two after it that read what the workspace has', async () => {
  takeStatements()
  await upload(caller)
  expect(takeStatements().filter((text) => !/^\s*(begin|commit|select set_config)/.test(text))).toHaveLength(5)
})

/** The operations on a port. */
async function listening() {
  const app = createServiceApp({
    logger: createLogger('test', 'silent'),
    db,
    operations: declared,
    verifyToken: testVerifier(),
  })
  await app.listen({ host: '127.0.0.1', port: 0 })
  const { port } = app.server.address() as AddressInfo
  return { app, port }
}

/** Sends the beginning of an upload. */
async function withhold(port: number, from: Caller) {
  const headers = { ...(await headersOf(from)), 'content-type': FORM, 'content-length': '1000000' }
  const request = openRequest({ host: '127.0.0.1', port, method: 'POST', path: '/v1/imports', headers, agent: false })
  request.on('error', () => undefined)
  request.write(productsForm('sku\n'.repeat(1000)).subarray(0, -100))
  const answer = new Promise((resolve) => {
    request.on('response', async (response) => resolve({ status: response.statusCode, body: await text(response) }))
  })
  return { request, answer }
}

it('uploads of five workspaces that stand still make room for that of another, and leave nothing (OP-161)', async () => {
  const { app, port } = await listening()
  const attackers = Array.from({ length: 5 }, () => aCaller())
  const received = async () => (await files(aCaller())).length
  const withheld = []
  for (const from of attackers) {
    for (let count = 0; count < UPLOADS.most; count++) withheld.push(await withhold(port, from))
  }
  await eventually('all places are taken', async () => (await received()) === UPLOADS.slots)
  expect((await upload(caller)).status).toBe(202)
  const refused = { status: 429, body: expect.stringContaining('Other workspaces need the place') }
  expect(await Promise.race(withheld.map(({ answer }) => answer))).toEqual(refused)
  for (const { request } of withheld) request.destroy()
  await eventually('what was received is removed', async () => (await received()) === 0)
  await app.close()
})

it('leaves nothing of an upload that is cut off', async () => {
  const { app, port } = await listening()
  const { request } = await withhold(port, caller)
  await eventually('the file is being received', async () => (await files(caller)).length === 1)
  request.destroy()
  await eventually('what was received is removed', async () => (await files(caller)).length === 0)
  await app.close()
  expect([await rows(), takeWoken()]).toEqual([[], []])
})

describe('files beyond the bytes of a workspace are unprocessable, and nothing is stored', async () => {
  const limited = await importsApi({ storedBytes: 1_000_000 })
  const csv = (bytes: number) => productsForm(`sku\n${'A'.repeat(bytes - 4)}`)
  const message =
    'file: does not fit: the files of a workspace may have 0.001 GB in all; send a smaller one, or ask for more room'

  it('of two at once that fit one by one, one is taken', async () => {
    const answers = await Promise.all([limited.upload(caller, csv(600_000)), limited.upload(caller, csv(600_000))])
    expect(answers.map(({ status }) => status).toSorted()).toEqual([202, 422])
    expect(answers.find(({ status }) => status === 422)?.body).toMatchObject({
      error: { code: 'unprocessable', message },
    })
    expect(await limited.files(caller)).toHaveLength(1)
    expect((await limited.upload(caller, csv(400_000))).status).toBe(202)
    expect((await limited.upload(caller, csv(5))).status).toBe(422)
    expect((await limited.upload(aCaller(), csv(600_000))).status).toBe(202)
  })

  it('by the length of the request, before the file comes', async () => {
    const answer = await limited.upload<ErrorBody>(caller, productsForm(''), { 'content-length': '3000000' })
    expect([answer.status, answer.body.error.message]).toEqual([422, message])
  })
})

describe('Idempotency-Key (OP-08)', () => {
  const once = { 'idempotency-key': 'once' }

  it('gives the same file sent again, also at once, one import, one file and one answer', async () => {
    const answers = await Promise.all([1, 2, 3].map(() => upload(caller, productsForm('sku\nA\n'), once)))
    answers.push(await upload(caller, productsForm('sku\nA\n'), once))
    expect(new Set(answers.map(({ status, body }) => `${status} ${JSON.stringify(body)}`)).size).toBe(1)
    expect([(await rows()).length, (await files(caller)).length]).toEqual([1, 1])
    expect(takeWoken()).toEqual(['validation'])
  })

  it.each([
    ['another file', productsForm('sku\nB\n')],
    ['another name', productsForm('sku\nA\n', 'other.csv')],
    ['another template', form(template('stock'), aFile('sku\nA\n', { fileName: 'products.csv', type: 'text/csv' }))],
  ])('refuses %s with conflict', async (_what, body) => {
    await upload(caller, productsForm('sku\nA\n'), once)
    const { status } = await upload<ErrorBody>(caller, body, once)
    expect([status, (await rows()).length, (await files(caller)).length]).toEqual([409, 1, 1])
  })

  it('is not used up by a refusal', async () => {
    await upload(caller, productsForm(''), once)
    expect((await upload(caller, productsForm('sku\nA\n'), once)).status).toBe(202)
  })
})

describe('the same content within 24 hours is taken, and the import knows the earlier one (OP-146)', () => {
  const sameAs = async ({ id }: Import) => (await admin`select same_as from import where id = ${id}`)[0]?.same_as

  it('under any name', async () => {
    const first = await upload(caller, productsForm('sku\nA\n', 'a.csv'))
    const again = await upload(caller, productsForm('sku\nA\n', 'b.csv'))
    const other = await upload(caller, productsForm('sku\nB\n', 'a.csv'))
    expect([await sameAs(first.body), await sameAs(again.body), await sameAs(other.body)]).toEqual([
      null,
      first.body.id,
      null,
    ])
  })

  it('but not one with another currency or template', async () => {
    const withCurrency = (...members: readonly { name: string; content: string }[]) =>
      upload(caller, form(...members, aFile('sku\nC\n', { fileName: 'c.csv', type: 'text/csv' })))
    const template = (content: string) => ({ name: 'template', content })
    const first = await withCurrency(template('products'))
    const inDollars = await withCurrency(template('products'), { name: 'currency', content: 'USD' })
    const again = await withCurrency(template('products'), { name: 'currency', content: 'USD' })
    const ofStock = await withCurrency(template('stock'))
    const found = await Promise.all([first, inDollars, again, ofStock].map(({ body }) => sameAs(body)))
    expect(found).toEqual([null, null, inDollars.body.id, null])
  })

  it('but not an older one, or that of another workspace', async () => {
    const { body } = await upload(caller)
    await admin`update import set created_at = created_at - interval '24 hours' where id = ${body.id}`
    const [later, elsewhere] = [await upload(caller), await upload(aCaller())]
    expect([await sameAs(later.body), await sameAs(elsewhere.body)]).toEqual([null, null])
  })
})

it('gives the import to the workspace of the key only', async () => {
  const { body } = await upload(caller)
  const other = aCaller()
  expect((await send(other, 'GET', `/v1/imports/${body.id}`)).status).toBe(404)
  expect((await send(caller, 'GET', `/v1/imports/${randomUUID()}`)).status).toBe(404)
})

it('is conflict while 100 files of the workspace wait to be validated, also of several at once, and leaves no file (OP-150)', async () => {
  const caller = aCaller()
  const { id } = (await upload(caller)).body
  await admin`
    insert into import (
      workspace_id, id, template, file, bytes, sha256, encoding, livemode, product_statuses, status, created_at, updated_at
    )
    select workspace_id, uuidv7(), template, file, bytes, '', encoding, livemode, product_statuses, 'UPLOADED', now(), now()
    from import, generate_series(1, 99) where id = ${id}`
  const limits = async (of: Caller) =>
    (await send<z.output<typeof ServiceLimits>>(of, 'GET', '/internal/limits')).body.limits
  const bytes = { name: 'import_bytes', used: expect.any(Number), most: STORED_BYTES }
  const [validating, applying] = [{ name: 'imports_to_validate' }, { name: 'imports_to_apply', used: 0, most: 100 }]
  expect(await limits(caller)).toEqual([bytes, { ...validating, used: 100, most: 100 }, applying])
  expect(await limits(aCaller())).toEqual([{ ...bytes, used: 0 }, { ...validating, used: 0, most: 100 }, applying])
  const before = await files(caller)
  const refused = await upload<ErrorBody>(caller)
  expect([refused.status, refused.body.error.message]).toEqual([
    409,
    'file: 100 files of this workspace wait to be validated; upload it when they are',
  ])
  expect(await files(caller)).toEqual(before)
  const { app, port } = await listening()
  const { request, answer } = await withhold(port, caller)
  expect(await answer, 'before the file has come').toMatchObject({ status: 409 })
  request.destroy()
  await app.close()
  expect((await upload(aCaller())).status).toBe(202)
  await admin`update import set status = 'VALIDATED' where id = ${id}`
  const answers = await Promise.all([1, 2, 3, 4, 5].map(() => upload(caller)))
  expect(answers.map(({ status }) => status).sort()).toEqual([202, 409, 409, 409, 409])
})
