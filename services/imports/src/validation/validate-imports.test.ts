import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { ErrorBody } from '@backoffice/contracts/errors.ts'
import type { Import, ImportReport } from '@backoffice/contracts/import.ts'
import { importTemplate, TEMPLATE_ROWS } from '@backoffice/contracts/import-templates.ts'
import type { Product } from '@backoffice/contracts/product.ts'
import type { Caller } from '@backoffice/http/internal-token.ts'
import { aCaller } from '@backoffice/testing/caller.ts'
import { eventually } from '@backoffice/testing/eventually.ts'
import { aFile, form } from '@backoffice/testing/form.ts'
import { whenDone } from '@backoffice/testing/when-done.ts'
import { beforeEach, describe, expect, it } from 'vitest'
import type { z } from 'zod'
import { importsService } from '../testing/imports-service.ts'
import type { Diff } from './diff.ts'
import type { MappingAnswer } from './mapping.ts'

const { adminOf, applied, atRest, directory, get, post, report, send, validated } = await importsService('catalog')
let caller = aCaller()

beforeEach(() => {
  caller = aCaller()
})

const diff = async (id: string) => (await send<Diff>(caller, 'GET', `/v1/imports/${id}/diff`)).body
const shownErrors = ({ summary }: ImportReport) =>
  summary.errors.map(({ row, column, code, value }) => [row, column, code, value])
const lines = (header: string, length: number, line: (n: number) => string) =>
  [header, ...Array.from({ length }, (_, n) => line(n))].join('\n')
/** The files of a workspace's imports. */
const filesOf = async ({ workspaceId }: Caller) =>
  (await readdir(directory, { recursive: true })).filter(
    (path) => path.includes(join(workspaceId, '')) && path.includes('.'),
  )
/** An import whose validation does not end, since nobody answers for customers. */
async function aValidating(): Promise<string> {
  const { id } = (await post(caller, 'customers', 'email,firstname\nada@example.com,Ada\n')).body
  const owner = caller
  whenDone(() => send(owner, 'POST', `/v1/imports/${id}/cancel`))
  await eventually('the validation begins', async () => (await get(caller, id)).status === 'VALIDATING')
  return id
}

describe('the report of a validation (spec: Import validation report; OP-52)', () => {
  it('says VALIDATED when every row is good, and the import shows the rows', async () => {
    const found = await validated(caller, 'products', 'sku,name,stock\nA,Mug,5\nB,Cup,0\n')
    expect(found).toEqual({
      import_id: expect.any(String),
      status: 'VALIDATED',
      summary: {
        total_rows: 2,
        valid_rows: 2,
        invalid_rows: 0,
        created: 0,
        updated: 0,
        failed: 0,
        errors: [],
        errors_truncated: false,
      },
    })
    expect(await get(caller, found.import_id)).toMatchObject({ status: 'VALIDATED', total_rows: 2, processed_rows: 0 })
    expect((await send<{ total: number }>(caller, 'GET', '/v1/products')).body.total).toBe(0)
  })

  it('says INVALID when a row is bad, with the first mistake of each in the order of the file', async () => {
    const file =
      'sku;name;stock;price\r\nA;Mug;many;NGN:1\r\n;Cup;1;\r\nC;Jug;1;\r\nD;Pot;1;naira\r\nE;"two\r\nlines";1\r\n'
    const { status, summary } = await validated(caller, 'products', file)
    expect([status, summary]).toEqual([
      'INVALID',
      {
        total_rows: 5,
        valid_rows: 1,
        invalid_rows: 4,
        created: 0,
        updated: 0,
        failed: 0,
        errors: [
          {
            row: 2,
            column: 'stock',
            code: 'bad_request',
            message: expect.stringContaining('whole number'),
            value: 'many',
          },
          { row: 3, column: 'sku', code: 'bad_request', message: 'is required', value: '' },
          {
            row: 5,
            column: 'price',
            code: 'bad_request',
            message: expect.stringContaining('NGN:450000'),
            value: 'naira',
          },
          { row: 6, column: '', code: 'bad_request', message: expect.stringContaining('has 3 cells'), value: null },
        ],
        errors_truncated: false,
      },
    ])
  })

  it('shows the first 1,000 errors of 12,000 bad rows', async () => {
    const { status, summary } = await validated(
      caller,
      'stock',
      lines('sku,stock', 12_000, (n) => `S${n},x`),
    )
    const { errors, ...counts } = summary
    expect([status, counts]).toMatchObject([
      'INVALID',
      { total_rows: 12_000, valid_rows: 0, invalid_rows: 12_000, errors_truncated: true },
    ])
    expect([errors.length, errors[0]?.row, errors.at(-1)?.row]).toEqual([1000, 1, 1000])
  })

  it('tells that errors are left out when the remark about the file leaves no room for the last one', async () => {
    const file = lines('sku,stock', 1000, (n) => `S${n},x`)
    const first = await validated(caller, 'stock', file)
    expect([first.summary.errors.length, first.summary.errors_truncated]).toEqual([1000, false])
    const again = await validated(caller, 'stock', file)
    expect([again.summary.errors.length, again.summary.errors_truncated]).toEqual([1000, true])
  })

  it('has no errors before the validation, and there is no diff yet', async () => {
    const id = await aValidating()
    const { status, summary } = await report(caller, id)
    expect([status, summary.errors]).toEqual(['VALIDATING', []])
    const refused = await send<ErrorBody>(caller, 'GET', `/v1/imports/${id}/diff`)
    expect([refused.status, refused.body.error.message]).toEqual([
      409,
      expect.stringContaining('once the file is validated'),
    ])
  })
})

describe('a file without rows that can be read is INVALID, and row 1 says why', () => {
  it.each([
    ['a header only', 'products', 'sku,name\n', '', 'the file has no rows below its header'],
    ['empty rows', 'products', 'sku,name\n,\n\n', '', 'the file has no rows below its header'],
    ['the file of another template', 'stock', 'slug,name\na,A\n', 'slug', 'the template stock has sku, stock'],
    ['no required column', 'stock', 'sku\nA\n', 'stock', 'the column is missing; add it to the header'],
    ['a quote that is not closed', 'stock', '"sku,stock\nA,1\n', '', 'a quote opens in this row and is not closed'],
    ['only a byte order mark', 'stock', '\ufeff', 'sku', 'the column is missing; add it to the header'],
  ] as const)('%s', async (_what, template, file, column, message) => {
    const { status, summary } = await validated(caller, template, file)
    const [error] = summary.errors
    expect([status, summary.total_rows, summary.invalid_rows]).toEqual(['INVALID', 0, 0])
    expect(error).toMatchObject({ row: 1, column, code: 'bad_request', message: expect.stringContaining(message) })
  })
})

it('a file is read as spreadsheets write it', async () => {
  const text = 'sku;name;stock\r\nA;Grüße “1”;1\r\n;;\r\n'
  const { status, import_id } = await applied(caller, 'products', Buffer.from(`\ufeff${text}`, 'utf16le'))
  expect(status).toBe('COMPLETED')
  const { body } = await send<{ items: { name: string }[] }>(caller, 'GET', '/v1/products')
  expect(body.items.map(({ name }) => name)).toEqual(['Grüße “1”'])
  expect((await diff(import_id)).create).toEqual({ count: 1, rows: [{ row: 2, key: 'A' }] })
})

describe('a file that is damaged is not taken for one that is whole (OP-186)', () => {
  const namesOf = async (owner: Caller) =>
    (await send<{ items: { name: string }[] }>(owner, 'GET', '/v1/products')).body.items.map(({ name }) => name)

  it('one byte that is not UTF-8 refuses its row, with the place of the byte, and no other character changes', async () => {
    const file = Buffer.from('sku,name,stock\nA,Crème,1\nB,Br?lée,2\nC,Café,3\n')
    const at = file.indexOf('?')
    file[at] = 0xfb
    const { status, summary, import_id } = await validated(caller, 'products', file)
    expect([status, summary.errors]).toEqual([
      'INVALID',
      [
        {
          row: 3,
          column: '',
          code: 'bad_request',
          message: `the byte ${at + 1} of the file (0xFB) is not UTF-8; save the file as UTF-8`,
          value: null,
        },
      ],
    ])
    await send(caller, 'POST', `/v1/imports/${import_id}/start?skip_invalid=true`)
    expect(await atRest(caller, import_id)).toMatchObject({ status: 'COMPLETED_WITH_ERRORS' })
    expect((await namesOf(caller)).sort()).toEqual(['Café', 'Crème'])
  })

  it('another encoding than UTF-8 is told, and makes no row invalid', async () => {
    const { status, summary } = await validated(
      caller,
      'products',
      Buffer.from('sku,name,stock\nA,Br\xfbl\xe9e,1\n', 'latin1'),
    )
    expect([status, summary.errors]).toEqual([
      'VALIDATED',
      [
        {
          row: 1,
          column: '',
          code: 'bad_request',
          message: expect.stringContaining('was read as windows-1252'),
          value: 'windows-1252',
        },
      ],
    ])
  })

  it('a forgotten quote refuses its row', async () => {
    const file = 'sku,name,stock\nA,"Mug,5\nB,Cup 5",3\nC,Jug,1\n'
    const { status, summary, import_id } = await validated(caller, 'products', file)
    const message = expect.stringContaining('reads as a row of its own')
    expect([status, summary.errors]).toMatchObject(['INVALID', [{ row: 2, message }]])
    expect((await diff(import_id)).create.rows).toEqual([{ row: 3, key: 'C' }])
  })

  it('the rows behind one that cannot be read are told first of all, however many errors come before it', async () => {
    const { summary } = await validated(caller, 'stock', `${lines('sku,stock', 1200, (n) => `S${n},x`)}\n"A,1\nB,1\n`)
    expect(summary.errors).toHaveLength(1000)
    expect(summary).toMatchObject({ invalid_rows: 1201, errors_truncated: true })
    expect(summary.errors[0]).toMatchObject({ row: 1, message: 'the rows after 1202 were not read' })
  })
})

describe('the rules of the workspace are known before anything is applied (OP-55, OP-56)', () => {
  it.each([
    ['product_variants', 'sku,product,stock', 'V,shirt,1', 'product', 'unprocessable'],
    ['stock', 'sku,stock', 'MISSING,1', 'sku', 'unprocessable'],
    ['categories', 'slug,name,parent', 'cups,Cups,kitchen', 'parent', 'unprocessable'],
    ['categories', 'slug,name,parent', 'cups,Cups,cups', 'parent', 'unprocessable'],
    ['products', 'sku,name,stock,categories', 'A,Mug,1,mugs', 'categories', 'unprocessable'],
    ['products', 'sku,stock', 'A,1', 'name', 'bad_request'],
    ['products', 'sku,name', 'A,Mug', 'stock', 'bad_request'],
  ] as const)('%s: %s with %s', async (template, header, line, column, code) => {
    const found = await validated(caller, template, `${header}\n${line}\n`)
    expect(found).toMatchObject({ status: 'INVALID', summary: { errors: [{ row: 2, column, code }] } })
  })

  it('a status that the workspace does not use', async () => {
    caller = aCaller({ productStatuses: ['ACTIVE', 'ARCHIVED'] })
    const found = await validated(caller, 'products', 'sku,name,stock,status\nA,Mug,1,HIDDEN\n')
    expect(shownErrors(found)).toEqual([[2, 'status', 'unprocessable', 'HIDDEN']])
  })

  it('a slug of another product, but not of the product itself', async () => {
    await applied(caller, 'products', 'sku,name,slug,stock\nA,Mug,mug,1\n')
    const found = await validated(caller, 'products', 'sku,name,slug,stock\nB,Mug,mug,1\n')
    expect(shownErrors(found)).toEqual([[2, 'slug', 'conflict', 'mug']])
    expect((await validated(caller, 'products', 'sku,slug\nA,mug\n')).status).toBe('VALIDATED')
  })

  it('a category may have a parent in any earlier row, however many rows are between them', async () => {
    const rows = lines('slug,name,parent', 1200, (n) => `c${n},C ${n},${n === 0 ? '' : 'c0'}`)
    expect(await validated(caller, 'categories', rows)).toMatchObject({ status: 'VALIDATED' })
    const found = await validated(caller, 'categories', 'slug,name,parent\na,,\nb,B,a\nc,C,d\nd,D,\n')
    expect(shownErrors(found)).toEqual([
      [2, 'name', 'bad_request', ''],
      [3, 'parent', 'unprocessable', 'a'],
      [4, 'parent', 'unprocessable', 'd'],
    ])
  })

  it('good rows and rows that only the workspace refuses are told apart in one page', async () => {
    await applied(caller, 'products', 'sku,name,stock\nA,Mug,1\nB,Cup,1\n')
    const found = await validated(caller, 'stock', 'sku,stock\nX,1\nA,x\nA,3\nY,1\nB,4\n')
    expect(found.summary).toMatchObject({ total_rows: 5, valid_rows: 2, invalid_rows: 3 })
    expect(shownErrors(found)).toEqual([
      [2, 'sku', 'unprocessable', 'X'],
      [3, 'stock', 'bad_request', 'x'],
      [5, 'sku', 'unprocessable', 'Y'],
    ])
  })
})

it.each(['products', 'categories'] as const)('the example of the template %s validates', async (template) => {
  const { header } = importTemplate(template)
  const example: Readonly<Record<string, string>> = TEMPLATE_ROWS[template].example
  const file = `${header.join(',')}\n${header.map((name) => example[name] ?? '').join(',')}\n`
  expect(await validated(caller, template, file)).toMatchObject({ status: 'VALIDATED' })
})

describe('GET /v1/imports/{id}/diff (OP-147)', () => {
  it('says which rows would create, update and change nothing', async () => {
    await applied(caller, 'products', 'sku,name,stock\nA,Mug,1\nB,Cup,1\n')
    const { import_id } = await validated(caller, 'products', 'sku,name,stock\nB,Cup,1\nC,Jug,1\nA,Pot,1\n,Bad,1\n')
    expect(await diff(import_id)).toEqual({
      create: { count: 1, rows: [{ row: 3, key: 'C' }] },
      update: { count: 1, rows: [{ row: 4, key: 'A' }] },
      unchanged: { count: 1, rows: [{ row: 2, key: 'B' }] },
    })
  })

  it('counts all rows and shows the first 100 of each kind', async () => {
    const { import_id } = await validated(
      caller,
      'products',
      lines('sku,name,stock', 700, (n) => `S${n},N,1`),
    )
    const { create, update } = await diff(import_id)
    expect([create.count, create.rows.length, create.rows.at(-1), update]).toEqual([
      700,
      100,
      { row: 101, key: 'S99' },
      { count: 0, rows: [] },
    ])
  })

  it('is empty for a file whose header is bad', async () => {
    const none = { count: 0, rows: [] }
    const { import_id } = await validated(caller, 'products', 'id\n1\n')
    expect(await diff(import_id)).toEqual({ create: none, update: none, unchanged: none })
  })
})

it('tells in the report that the same content was uploaded in the last 24 hours, and takes it (OP-146)', async () => {
  const file = 'sku,name,stock\nA,Mug,5\n'
  const first = await validated(caller, 'products', file)
  const again = await validated(caller, 'products', file)
  expect([first.status, first.summary.errors, again.status]).toEqual(['VALIDATED', [], 'VALIDATED'])
  expect(again.summary.errors).toEqual([
    {
      row: 1,
      column: '',
      code: 'duplicate',
      message: `the file has the same content as the import ${first.import_id} of the last 24 hours; start only one of them`,
      value: first.import_id,
    },
  ])
})

describe('a corrected file (corrected.csv)', () => {
  const correctedOf = async (id: string) => {
    const paths = await readdir(directory, { recursive: true })
    const path = paths.find((one) => one.includes(id) && one.endsWith('corrected.csv'))
    return readFile(join(directory, path ?? ''), 'utf8')
  }

  it('has the bad rows, validates once they are mended, and its cells come back as they were', async () => {
    const bad = await validated(caller, 'products', "sku,name,stock,description,\nA,=1+1,x,'=quoted,\nB,Fine,1,,\n")
    expect(bad.summary).toMatchObject({ valid_rows: 1, invalid_rows: 1 })
    const corrected = await correctedOf(bad.import_id)
    expect(corrected).toMatch(
      /^\ufeffsku,name,stock,description,error\r\nA,'=1\+1,x,''=quoted,"stock: must be a whole number[^"]*"\r\n$/,
    )
    const still = await validated(caller, 'products', corrected)
    expect(shownErrors(still)).toEqual([[2, 'stock', 'bad_request', 'x']])
    expect((await correctedOf(still.import_id)).split('\r\n')).toEqual(corrected.split('\r\n'))
    const mended = await applied(caller, 'products', corrected.replace(',x,', ',7,'))
    expect(mended).toMatchObject({ status: 'COMPLETED', summary: { created: 1 } })
    const { body } = await send<{ items: unknown[] }>(caller, 'GET', '/v1/products')
    expect(body.items).toMatchObject([{ name: '=1+1', description: "'=quoted" }])
  })
})

describe('a validation under way', () => {
  it('may be cancelled: nothing is found any more, and no file but the upload stays', async () => {
    const id = await aValidating()
    const { status, body } = await send<Import>(caller, 'POST', `/v1/imports/${id}/cancel`)
    expect([status, body.status]).toEqual([202, 'CANCELLED'])
    expect(await report(caller, id)).toMatchObject({ status: 'CANCELLED', summary: { errors: [] } })
    await eventually('only the upload is stored', async () => (await filesOf(caller)).length === 1)
    const next = await validated(caller, 'products', 'sku,name,stock\nA,Mug,1\n')
    expect([next.status, (await get(caller, id)).status]).toEqual(['VALIDATED', 'CANCELLED'])
  })

  it('cannot be started', async () => {
    const { status } = await send<ErrorBody>(caller, 'POST', `/v1/imports/${await aValidating()}/start`)
    expect(status).toBe(409)
  })

  it('holds up no other workspace', async () => {
    await aValidating()
    caller = aCaller()
    expect(await validated(caller, 'products', 'sku,name,stock\nA,Mug,1\n')).toMatchObject({ status: 'VALIDATED' })
  })

  it('holds up no larger file of others, however many large ones of junk are validated', async () => {
    const junk = 'x\n'.repeat(5 * 1024 * 1024)
    const busy = [aCaller(), aCaller(), aCaller()]
    const ids = await Promise.all(busy.map(async (one) => (await post(one, 'stock', `sku,stock\n${junk}`)).body.id))
    const statuses = () => Promise.all(busy.map(async (one, n) => (await get(one, ids[n] ?? '')).status))
    whenDone(() => Promise.all(busy.map((one, n) => send(one, 'POST', `/v1/imports/${ids[n]}/cancel`))))
    await eventually('two of them are validated', async () => {
      return (await statuses()).filter((status) => status === 'VALIDATING').length >= 2
    })
    const note = 'what to mend'.repeat(250)
    const larger = lines('sku,name,stock,error', 1000, (n) => `S${n},Mug,1,${note}`)
    expect(await validated(caller, 'products', larger)).toMatchObject({ status: 'VALIDATED' })
    expect(new Set(await statuses())).toEqual(new Set(['VALIDATING']))
  })

  it('holds up no other import of its workspace, once its owner is known to be away', async () => {
    await aValidating()
    expect(await validated(caller, 'products', 'sku,name,stock\nA,Mug,1\n')).toMatchObject({ status: 'VALIDATED' })
  })
})

it('a valid row is stored for its batch, and a bad one is not', async () => {
  const { body } = await post(
    caller,
    'products',
    lines('sku,name,stock', 1001, (n) => `${n === 7 ? '' : `S${n}`},N,1`),
  )
  expect(await atRest(caller, body.id)).toMatchObject({ status: 'INVALID', total_rows: 1001 })
  const batches = await adminOf('imports')`
    select batch, rows from import_batch where import_id = ${body.id} order by batch`
  expect(batches.map(({ rows }) => rows).reduce((sum, rows) => sum + rows, 0)).toBe(1000)
  expect(batches.every(({ rows }) => rows <= 500)).toBe(true)
})

describe('a product export of another platform (OP-279)', () => {
  const sample = (name: string) => readFile(new URL(`../sources/testing/${name}-products.csv`, import.meta.url))
  async function uploaded(content: Buffer, currency: string): Promise<Import> {
    const members = Object.entries({ template: 'products', currency }).map(([name, content]) => ({ name, content }))
    const file = form(...members, aFile(content, { fileName: 'export.csv', type: 'text/csv' }))
    const { status, body } = await send<Import>(caller, 'POST', '/v1/imports', file)
    expect(status, JSON.stringify(body)).toBe(202)
    return atRest(caller, body.id)
  }
  async function started(id: string) {
    await send(caller, 'POST', `/v1/imports/${id}/start`)
    const { status } = await atRest(caller, id)
    return { status, ...(await report(caller, id)).summary }
  }
  const products = async () => (await send<{ items: Product[] }>(caller, 'GET', '/v1/products')).body.items

  it('of Shopify loads as it comes, again too, once its currency is given', async () => {
    const content = await sample('shopify')
    expect(shownErrors(await validated(caller, 'products', content))).toEqual([
      [1, 'Variant Price', 'bad_request', null],
    ])
    const { id, status } = await uploaded(content, 'EUR')
    expect(status).toBe('VALIDATED')
    const { body: mapping } = await send<z.output<typeof MappingAnswer>>(caller, 'GET', `/v1/imports/${id}/mapping`)
    expect([mapping.source, mapping.currency, mapping.columns.length]).toEqual(['shopify', 'EUR', 46])
    expect(mapping.rows.map(({ row, values }) => [row, values.sku, values.price])).toEqual([
      [2, 'LIN-ECR-M', { EUR: 4990 }],
      [3, 'LIN-ECR-L', { EUR: 4990 }],
      [4, 'linen-shirt-navy-m', { EUR: 5400 }],
      [6, 'JUG-01', { EUR: 450 }],
      [7, 'gift-card', { EUR: 2500 }],
    ])
    expect(await started(id)).toMatchObject({ status: 'COMPLETED', created: 5, failed: 0 })
    const found = await products()
    expect(found.map(({ name, type, total_stock }) => [name, type, total_stock]).sort()).toEqual([
      ['Gift card', 'SIMPLE_PRODUCT', 0],
      ['Linen shirt, "Lagos" cut', 'VARIABLE_PRODUCT', 19],
      ['Water jug', 'SIMPLE_PRODUCT', 25],
    ])
    const again = await uploaded(content, 'EUR')
    expect(await diff(again.id)).toMatchObject({ create: { count: 0 }, update: { count: 0 }, unchanged: { count: 5 } })
  })

  it('of WooCommerce loads as it comes; what fails when it is applied has the columns of the file', async () => {
    const { id, status } = await uploaded(await sample('woocommerce'), 'USD')
    expect(status).toBe('VALIDATED')
    await send(caller, 'POST', '/v1/products', { name: 'Sock', type: 'SIMPLE_PRODUCT', sku: 'socks-s', stock: 1 })
    const { errors, ...summary } = await started(id)
    expect(summary).toMatchObject({ status: 'COMPLETED_WITH_ERRORS', created: 4, failed: 1 })
    expect(errors).toMatchObject([{ row: 8, column: 'SKU', code: 'unprocessable', value: 'socks-s' }])
    expect(await products()).toEqual(
      expect.arrayContaining([
        expect.objectContaining({
          name: 'Hoodie, "classic"',
          options: [
            { id: expect.any(String), name: 'Color', values: ['Blue', 'Green, dark'] },
            { id: expect.any(String), name: 'Logo', values: ['Yes', 'No'] },
          ],
        }),
      ]),
    )
  })

  it('with a NUL character in a cell that is read in place of an empty one is refused by its row', async () => {
    const header = 'ID,Type,SKU,Name,Description,Short description,Stock,Regular price'
    const { id, status } = await uploaded(
      Buffer.from(`${header}\n1,simple,A,Mug,,a\0b,1,5\n2\0,simple,,Cup,,,1,5\n`),
      'USD',
    )
    expect(status).toBe('INVALID')
    const { summary } = await report(caller, id)
    const message = 'must not contain NUL characters'
    expect(summary.errors.map(({ row, column, message }) => [row, column, message])).toEqual([
      [2, 'Description', message],
      [3, 'SKU', message],
    ])
  })
})
