import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Template } from '@backoffice/contracts/imports.ts'
import { whenDone } from '@backoffice/testing/when-done.ts'
import { describe, expect, it } from 'vitest'
import { chunksOf } from '../files/testing/chunks.ts'
import { TimeSlices } from '../validation/time-slices.ts'
import { type CheckPage, validateFile } from '../validation/validate-file.ts'

const SHOPIFY = await readFile(new URL('testing/shopify-products.csv', import.meta.url), 'utf8')
const WOOCOMMERCE = await readFile(new URL('testing/woocommerce-products.csv', import.meta.url), 'utf8')

const created: CheckPage = async ({ read }) => ({
  created: read.map(({ row }) => row),
  updated: [],
  unchanged: [],
  failed: [],
})

interface Wanted {
  readonly currency?: string | null
  readonly template?: Template
  readonly check?: CheckPage
}

/** Validates a file, and reads the rows that would be applied. */
async function validate(
  content: string | Buffer,
  { currency = 'USD', template = 'products', check = created }: Wanted = {},
) {
  const folder = await mkdtemp(join(tmpdir(), 'sources-'))
  whenDone(() => rm(folder, { recursive: true }))
  const signal = new AbortController().signal
  const chunks = chunksOf(Buffer.from(content), 100)
  const file = { template, content: chunks, encoding: 'utf-8', currency, folder, remarks: [], signal }
  const found = await validateFile({ ...file, slices: new TimeSlices() }, check, () => undefined)
  const textOf = (name: string) => readFile(join(folder, name), 'utf8')
  const lines = (await textOf('rows.ndjson')).split('\n').filter((line) => line !== '')
  const rows: { row: number; values: Record<string, unknown> }[] = lines.flatMap((line) => JSON.parse(line))
  return { ...found, rows, corrected: () => textOf('corrected.csv') }
}

const FILES = 'https://cdn.shopify.com/s/files/1/0001/2345/files'
const UPLOADS = 'https://shop.example.com/wp-content/uploads/2026/03'

describe('a product export of Shopify is read as it comes (OP-279)', () => {
  it('as rows of the template products, with the row numbers of the file', async () => {
    const { rows, errors, counts } = await validate(SHOPIFY)
    expect([errors, counts]).toEqual([[], { total_rows: 5, valid_rows: 5, invalid_rows: 0 }])
    const shirt = {
      ...{ name: 'Linen shirt, "Lagos" cut', type: 'VARIABLE_PRODUCT', status: 'ACTIVE', slug: 'linen-shirt' },
      ...{ tags: ['linen', 'Summer 2026', 'unisex'], requires_shipping: true },
      ...{ option1_name: 'Color', option1_value: 'Écru', option2_name: 'Size', option2_value: 'M' },
      description: expect.stringMatching(/^<p>Loose fit, washed linen.<\/p>\n<ul>[\s\S]*at 30°, "gently"\.<\/p>$/),
    }
    const price = { price: { USD: 4990 }, cost: { USD: 2150 } }
    expect(rows).toEqual([
      { row: 2, values: { ...shirt, ...price, sku: 'LIN-ECR-M', stock: 12 } },
      { row: 3, values: { ...shirt, ...price, option2_value: 'L', sku: 'LIN-ECR-L', stock: 7 } },
      {
        row: 4,
        values: {
          ...{ ...shirt, option1_value: 'Navy', sku: 'linen-shirt-navy-m', stock: 0, price: { USD: 5400 } },
          images: ['linen-ecru', 'linen-back', 'linen-detail'].map((name) => `${FILES}/${name}.jpg?v=1710000000`),
        },
      },
      {
        row: 6,
        values: {
          ...{ sku: 'JUG-01', name: 'Water jug', slug: 'water-jug', status: 'ACTIVE', tags: ['kitchen'] },
          ...{ stock: 25, price: { USD: 450 }, requires_shipping: true, images: [`${FILES}/jug.png`] },
        },
      },
      {
        row: 7,
        values: {
          ...{ sku: 'gift-card', name: 'Gift card', slug: 'gift-card', status: 'HIDDEN' },
          ...{ description: '<p>For "everything".</p>', opening_stock: 0, price: { USD: 2500 } },
          requires_shipping: false,
        },
      },
    ])
  })

  it('also by the names that its columns have since 2025', async () => {
    const file =
      'Title,URL handle,Description,Published on online store,Status,SKU,Option1 name,Option1 value,Price,Inventory quantity\n' +
      'Cap,cap,Wool,TRUE,Active,,Size,S,5,1\n,cap,,,,,,M,5.5,2\n'
    const cap = { name: 'Cap', type: 'VARIABLE_PRODUCT', status: 'ACTIVE', slug: 'cap', description: 'Wool' }
    expect((await validate(file, { currency: 'JPY' })).errors).toEqual([
      {
        ...{ row: 3, column: 'Price', code: 'bad_request', value: '5.5' },
        message: 'has more than the 0 decimals of JPY',
      },
    ])
    expect((await validate(file)).rows).toEqual([
      {
        row: 2,
        values: { ...cap, sku: 'cap-s', option1_name: 'Size', option1_value: 'S', price: { USD: 500 }, stock: 1 },
      },
      {
        row: 3,
        values: { ...cap, sku: 'cap-m', option1_name: 'Size', option1_value: 'M', price: { USD: 550 }, stock: 2 },
      },
    ])
  })

  it('with what real files have: no quantities, one option called Title, rows without a handle', async () => {
    const file =
      'Handle,Title,Option1 Name,Option1 Value,Variant SKU,Variant Inventory Tracker,Variant Inventory Qty,Variant Price\n' +
      'book,Book,Title,Hardcover,B-1,shopify,0,5\nbook,,,Paperback,B-2,,0,5\n,Pen,,,,,,1\n'
    const { rows, errors } = await validate(file)
    expect(errors).toMatchObject([{ row: 4, column: 'Variant SKU', message: 'is required' }])
    const option = { option1_name: 'Title', type: 'VARIABLE_PRODUCT' }
    expect(rows.map(({ values }) => values)).toMatchObject([
      { ...option, option1_value: 'Hardcover', stock: 0 },
      { ...option, option1_value: 'Paperback', opening_stock: 0 },
    ])
    const withoutQuantities = await validate('Handle,Title,Variant SKU,Variant Price\npen,Pen,P,1\n')
    expect(withoutQuantities.rows).toMatchObject([{ values: { sku: 'P', opening_stock: 0 } }])
  })

  it('and says what became of each column', async () => {
    const { mapping } = await validate(SHOPIFY)
    expect(mapping).toMatchObject({ source: 'shopify', currency: 'USD' })
    expect(mapping.columns.length).toBe(46)
    expect(mapping.columns).toEqual(
      expect.arrayContaining([
        { column: 'Handle', target: 'slug' },
        { column: 'Variant Price', target: 'price' },
        { column: 'Image Src', target: 'images' },
        { column: 'Vendor', target: null },
      ]),
    )
  })
})

it('images of successive rows of a handle go to its last variant, by their positions, each once', async () => {
  const { rows, errors } = await validate(
    [
      'Handle,Title,Option1 Name,Option1 Value,Variant SKU,Variant Price,Image Src,Image Position,Variant Image',
      'cap,Cap,Size,S,C-S,1,https://x.example/3.jpg,3,https://x.example/s.jpg',
      'cap,,,M,C-M,1,https://x.example/1.jpg,1,https://x.example/3.jpg',
      'cap,,,,,,https://x.example/2.jpg,2,',
      ',,,,,,,,',
      'cap,,,,,,https://x.example/1.jpg,4,',
      'pen,Pen,,,PEN,1,,,',
      'pot,Pot,,,POT,1,not a URL,1,',
      'jug,Jug,,,JUG,1,https://x.example/j.jpg,,',
      'broken,"Broken,,,B,1,,,',
    ].join('\n'),
  )
  expect(rows.map(({ values: { sku, images } }) => [sku, images])).toEqual([
    ['C-S', undefined],
    ['C-M', ['1', '2', '3', 's'].map((name) => `https://x.example/${name}.jpg`)],
    ['PEN', undefined],
    ['JUG', ['https://x.example/j.jpg']],
  ])
  expect(errors).toMatchObject([{ row: 8, column: 'Image Src', code: 'bad_request' }, { row: 10 }, { row: 1 }])
})

it('a product export of WooCommerce is read as it comes (OP-279)', async () => {
  const { rows, errors, counts } = await validate(WOOCOMMERCE)
  expect([errors, counts]).toEqual([[], { total_rows: 5, valid_rows: 5, invalid_rows: 0 }])
  const hoodie = {
    ...{ name: 'Hoodie, "classic"', type: 'VARIABLE_PRODUCT', status: 'ACTIVE', slug: 'woo-hoodie' },
    ...{ tags: ['warm', 'black, white'], purchase_note: 'Wash cold', option1_name: 'Color', option2_name: 'Logo' },
    description: '<p>Warm, soft and heavy.</p>\n<p>It says C:\\new on the back.</p>',
    images: [`${UPLOADS}/hoodie-2.jpg`, `${UPLOADS}/hoodie-blue-1.jpg`],
  }
  expect(rows).toEqual([
    {
      row: 3,
      values: {
        ...{ sku: 'woo-beanie', name: '=Beanie', type: 'SIMPLE_PRODUCT', status: 'ACTIVE', stock: 40 },
        ...{
          images: [`${UPLOADS}/beanie.jpg`],
          description: 'A simple product.',
          low_stock_threshold: 5,
          price: { USD: 2050 },
        },
      },
    },
    {
      row: 4,
      values: {
        ...{ sku: 'product-61', name: 'Album', type: 'VIRTUAL_PRODUCT', status: 'HIDDEN', opening_stock: 0 },
        images: [`${UPLOADS}/album.jpg`],
        ...{ description: 'Music to sew to', price: { USD: 1500 } },
      },
    },
    {
      row: 5,
      values: {
        ...{ ...hoodie, sku: 'woo-hoodie-blue', stock: 3, price: { USD: 4500 } },
        ...{ option1_value: 'Blue', option2_value: 'Yes' },
      },
    },
    {
      row: 6,
      values: {
        ...{ ...hoodie, sku: 'product-63', opening_stock: 0, price: { USD: 4200 } },
        ...{ option1_value: 'Green, dark', option2_value: 'No' },
      },
    },
    {
      row: 8,
      values: {
        ...{ sku: 'socks-s', name: 'Socks', type: 'VARIABLE_PRODUCT', status: 'ACTIVE', slug: 'product-70' },
        ...{ stock: 8, price: { USD: 300 }, option1_name: 'Size', option1_value: 'S' },
      },
    },
  ])
})

describe('the report is about the file that the merchant has', () => {
  it.each([
    ['Variant Price', SHOPIFY],
    ['Regular price', WOOCOMMERCE],
  ])('and asks for the currency of %s', async (column, file) => {
    const { errors, rows } = await validate(file, { currency: null })
    const message = expect.stringMatching(/upload the file again with the member currency before it/)
    expect(errors).toEqual([{ row: 1, column, code: 'bad_request', message, value: null }])
    expect(rows).toEqual([])
  })

  it('and names the template, for another one', async () => {
    const { errors } = await validate(SHOPIFY, { template: 'stock' })
    expect(errors).toMatchObject([{ row: 1, message: expect.stringContaining('with the template products') }])
  })

  it('with its rows and columns, what its owner refuses too, and the corrected rows stand alone', async () => {
    const refused: CheckPage = async ({ read: [first, ...others] }) => ({
      ...{ created: others.map(({ row }) => row), updated: [], unchanged: [] },
      failed: [{ row: first?.row ?? 0, error: { column: 'name', code: 'conflict', message: 'is taken', value: '' } }],
    })
    const bad = SHOPIFY.replace(',54,', ',"1,054.00",')
    const { errors, corrected } = await validate(bad, { check: refused })
    expect(errors).toMatchObject([
      { row: 2, column: 'Title', code: 'conflict', message: 'is taken', value: 'Linen shirt, "Lagos" cut' },
      { row: 4, column: 'Variant Price', code: 'bad_request', value: '1,054.00' },
    ])
    const again = await validate((await corrected()).replace('"1,054.00"', '1054'))
    expect(again.errors).toEqual([])
    expect(again.rows[1]).toMatchObject({
      row: 3,
      values: { name: 'Linen shirt, "Lagos" cut', option1_name: 'Color', price: { USD: 105_400 } },
    })
  })

  it('when a variation comes before its product, and for kinds that there are not', async () => {
    const [header, ...lines] = WOOCOMMERCE.split('\r\n')
    const grouped = lines[1]?.replace('simple', 'grouped') ?? ''
    const { errors } = await validate([header, lines[3], grouped].join('\n'))
    expect(errors).toMatchObject([
      { row: 2, column: 'Parent', code: 'bad_request', value: 'woo-hoodie' },
      { row: 3, column: 'Type', code: 'bad_request', value: 'grouped' },
    ])
  })
})

it('a long description is stored once, however many variants its product has', async () => {
  const row = (n: number) => `shirt,${n === 0 ? 'Shirt' : ''},${n === 0 ? 'x'.repeat(60_000) : ''},Size,${n},S-${n},1\n`
  const lines = Array.from({ length: 1000 }, (_, n) => row(n)).join('')
  const { rows, counts } = await validate(
    `Handle,Title,Body (HTML),Option1 Name,Option1 Value,Variant SKU,Variant Price\n${lines}`,
  )
  expect(counts).toMatchObject({ valid_rows: 1000, invalid_rows: 0 })
  expect(JSON.stringify(rows).length).toBeLessThan(300_000)
})

describe('prices', () => {
  const sold = (price: string, currency: string) =>
    validate(`Handle,Title,Variant SKU,Variant Price\npen,Pen,P,"${price}"\n`, { currency })

  it.each([
    ['HUF', '1990.00', 199_000],
    ['IDR', '25000', 2_500_000],
    ['JPY', '500.00', 500],
    ['KWD', '1,250', 1250],
    ['USD', '20.0000', 2000],
    ['USD', '0.500', 50],
  ])('in %s have the minor units of ISO 4217: %s', async (currency, text, amount) => {
    expect((await sold(text, currency)).rows).toMatchObject([{ values: { price: { [currency]: amount } } }])
  })

  it.each(['1,000', '1.250', '12,500'])('with what may be a separator of thousands are refused: %s', async (text) => {
    for (const currency of ['USD', 'JPY'])
      expect((await sold(text, currency)).errors).toMatchObject([{ row: 2, column: 'Variant Price', value: text }])
  })
})

it('rows of products whose names make one slug are not one product', async () => {
  const header = 'Handle,Title,Option1 Name,Option1 Value,Variant SKU,Variant Price\n'
  const lines = 'cafe,Cafe,Size,S,A,1\ncafé,Café,Size,M,B,1\ncafé,,,L,C,1\ncafe,,,M,D,1\n'
  const { rows, errors } = await validate(header + lines)
  expect(rows.map(({ row }) => row)).toEqual([2, 5])
  const message = 'makes the same slug as "cafe": rename one of them'
  expect(errors).toMatchObject([
    { row: 3, column: 'Handle', code: 'conflict', message, value: 'café' },
    { row: 4, column: 'Handle', code: 'conflict', message, value: 'café' },
  ])
})

it('a product of Shopify without price, SKU and options is a product', async () => {
  const { rows } = await validate('Handle,Title,Variant SKU,Variant Price\npen,Pen,,\n')
  expect(rows).toMatchObject([{ row: 2, values: { sku: 'pen', name: 'Pen', slug: 'pen' } }])
})

it('a quantity of 0 is one where the file does not say what is tracked', async () => {
  const { rows } = await validate('Handle,Title,Variant SKU,Variant Price,Variant Inventory Qty\npen,Pen,P,1,0\n')
  expect(rows[0]?.values).toMatchObject({ stock: 0 })
})

describe('of WooCommerce', () => {
  it('corrected variations need no row of their product', async () => {
    const { corrected } = await validate(WOOCOMMERCE.replace(',45,', ',many,'))
    const { errors, rows } = await validate((await corrected()).replace(',many,', ',45,'))
    expect(errors).toEqual([])
    expect(rows).toMatchObject([{ values: { sku: 'woo-hoodie-blue', slug: 'woo-hoodie', name: 'Hoodie, "classic"' } }])
  })

  it('a product without SKU and ID is refused', async () => {
    const { errors } = await validate('Type,SKU,Name,Regular price\nsimple,,Pen,1\n')
    expect(errors).toMatchObject([{ row: 2, column: 'SKU', message: 'is required' }])
  })
})

describe('a row that is damaged gives nothing to the good rows', () => {
  const header = 'Handle,Title,Option1 Name,Option1 Value,Variant SKU,Variant Price,Tags,Image Src'
  const message = 'has what it says of the product from row 2, which is refused: mend that row'
  /** A text in which each `?` is a byte that is not UTF-8. */
  const damaged = (text: string) => Buffer.from(text.replaceAll('?', '\xe9'), 'latin1')

  it.each([
    ['a bad byte', 'cap,Caf?,Size,S,C-S,1,a,', 'cap,Cafe,Size,S,C-S,1,a,'],
    ['an open quote', 'cap,"Cap,Size,S,C-S,1,a,\ncap,,,X,C-X,1,"a",', 'cap,Cap,Size,S,C-S,1,a,'],
    ['a forgotten quote', 'cap,"Cap\ncap,,,X,C-X,1,,\n",Size,S,C-S,1,a,', 'cap,Cap,Size,S,C-S,1,a,'],
    ['a comma too many', 'cap,Cap, blue,Size,S,C-S,1,a,', 'cap,"Cap, blue",Size,S,C-S,1,a,'],
    ['a comma too few', 'cap,Cap,Size,S,C-S,1,a', 'cap,Cap,Size,S,C-S,1,a,'],
  ])('in the row that leads a product of Shopify: %s', async (_what, bad, mended) => {
    const file = (first: string) => damaged(`${header}\n${first}\ncap,,,M,C-M,1,,\ncap,,,L,C-L,many,,\n`)
    const { rows, errors } = await validate(file(bad))
    expect(rows).toEqual([])
    expect(errors).toMatchObject([{ row: 2 }, { row: 3, column: '', message }, { row: 4, message }])
    expect((await validate(file(mended))).rows).toMatchObject([{ row: 2 }, { row: 3 }])
  })

  it('in the row of a variable product of WooCommerce', async () => {
    const file =
      'ID,Type,SKU,Name,Published,Regular price,Stock,Parent,Attribute 1 name,Attribute 1 value(s)\n' +
      '1,variable,TEE,T?e,1,,,,Size,"S, M"\n2,variation,TEE-S,T,1,5.00,3,TEE,Size,S\n'
    const { rows, errors, corrected } = await validate(damaged(file))
    expect(rows).toEqual([])
    expect(errors).toMatchObject([{ row: 2 }, { row: 3, message }])
    expect((await validate((await corrected()).replaceAll('\ufffd', 'e'))).rows).toMatchObject([
      { row: 3, values: { name: 'Tee', slug: 'tee' } },
    ])
  })

  it('nor its slug', async () => {
    const { errors } = await validate(damaged(`${header}\ncaf?,Cafe,,,A,1,,\ncaf,Caf,,,B,1,,\n`))
    expect(errors).toMatchObject([{ row: 2 }])
  })

  it('and has what its row says of the product, also directly below it', async () => {
    const file = [
      header,
      'cap,Cap,Size,S,C-S,1,a,https://x.example/1.jpg',
      'cap,,,M,C-?,1,,',
      'cap,,,L,C-L,many,,https://x.example/2.jpg',
      'pen,Pen,Size,S,P-?,1,,',
      'pen,,,M,Q-?,1,,',
    ].join('\n')
    const { rows, errors, corrected } = await validate(damaged(file))
    expect(rows).toMatchObject([{ row: 2 }])
    expect(errors).toMatchObject([{ row: 3 }, { row: 4 }, { row: 5 }, { row: 6 }])
    const again = await validate((await corrected()).replaceAll('\ufffd', 'x').replace('many', '1'))
    expect(again.errors).toEqual([])
    const cap = { slug: 'cap', name: 'Cap', option1_name: 'Size', tags: ['a'] }
    expect(again.rows).toMatchObject([
      { values: { ...cap, option1_value: 'M', sku: 'C-x' } },
      { values: { ...cap, option1_value: 'L', images: ['https://x.example/1.jpg', 'https://x.example/2.jpg'] } },
      { values: { slug: 'pen', name: 'Pen' } },
      { values: { slug: 'pen', name: 'Pen', option1_value: 'M' } },
    ])
  })

  it('and takes no images from it, unless rows of more than 1 MiB are between', async () => {
    const fileOf = (bad: string) =>
      [
        header,
        'cap,Cap,Size,S,C-S,1,a,https://x.example/1.jpg',
        ...Array.from({ length: 100 }, (_, n) => `cap,,,M${n},C-?,1,${bad},`),
        'cap,,,,,,,https://x.example/2.jpg',
      ].join('\n')
    const few = await validate(damaged(fileOf('a')))
    expect(few.rows).toMatchObject([{ values: { images: ['https://x.example/1.jpg', 'https://x.example/2.jpg'] } }])
    const long = await validate(damaged(fileOf('a'.repeat(20_000))))
    expect(long.rows).toMatchObject([{ values: { images: ['https://x.example/1.jpg'] } }])
    expect(long.counts).toMatchObject({ valid_rows: 1, invalid_rows: 101 })
    expect(long.errors.at(-1)).toMatchObject({ row: 103, column: 'Image Src' })
  })

  it('and takes no images from them', async () => {
    const image = (n: number, end = '') => `cap,,,,,,${end},https://x.example/${n}.jpg`
    const file = [
      header,
      'cap,Cap,Size,S,C-S,1,a,https://x.example/1.jpg',
      'cap,,,M,C-M,1,,',
      image(2, '?'),
      image(3),
      `${image(4)},5`,
      'cap,,,L,C-?,1,,',
    ].join('\n')
    const { rows, errors, corrected } = await validate(damaged(file))
    expect(rows.map(({ values }) => values.images)).toEqual([
      undefined,
      ['https://x.example/1.jpg', 'https://x.example/3.jpg'],
    ])
    expect(errors).toMatchObject([{ row: 4 }, { row: 6 }, { row: 7 }])
    const lines = (await corrected()).split('\r\n')
    expect(lines.slice(1, 4)).toEqual([
      expect.stringMatching(/^cap,,,,,,\ufffd,https:\/\/x.example\/2.jpg,/),
      expect.stringMatching(/^cap,,,,,,,https:\/\/x.example\/4.jpg,/),
      expect.stringMatching(/^cap,Cap,Size,L,C-\ufffd,1,a,,/),
    ])
  })
})

describe('a row of another length is no harm', () => {
  it.each([
    ['Shopify', SHOPIFY],
    ['WooCommerce', WOOCOMMERCE],
  ])('with a comma behind its last cell, as all rows below the header of %s', async (_title, file) => {
    const start = file.indexOf('\n') + 1
    // Line breaks within quotes stay.
    const parts = file.slice(start).split('"')
    const longer = parts.map((part, n) => (n % 2 === 0 ? part.replaceAll(/\r?\n/g, ',$&') : part)).join('"')
    const { rows } = await validate(file)
    const found = await validate(file.slice(0, start) + longer)
    expect([found.errors, found.rows]).toEqual([[], rows])
  })

  it('when it says nothing but its handle', async () => {
    const header = 'Handle,Title,Option1 Name,Option1 Value,Variant SKU,Variant Price,Vendor,Image Src'
    const { rows, errors } = await validate(`${header}\npen,Pen,,,P,1,,\npen,,,\npen\njug,Jug,,,J,1,,\n`)
    expect(errors).toEqual([])
    expect(rows).toMatchObject([{ row: 2 }, { row: 5 }])
    const withMore = await validate(`${header}\npen,Pen,,,P,1,,\npen,,,,,,https://x.example/1.jpg\n`)
    expect(withMore.errors).toMatchObject([{ row: 3, message: expect.stringContaining('has 7 cells') }])
  })
})

it('an image of Shopify without the rows of its product above it is refused', async () => {
  const { rows, errors } = await validate(
    'Handle,Title,Variant SKU,Variant Price,Image Src\npen,Pen,P,1,\ncap,,,,https://x.example/1.jpg\ncap,Cap,C,1,\n',
  )
  expect(rows.map(({ values }) => values.sku)).toEqual(['P', 'C'])
  const message =
    'is an image of a product whose rows are not directly above: put them above it, also in a corrected file'
  expect(errors).toMatchObject([{ row: 3, column: 'Image Src', code: 'bad_request', message }])
})
