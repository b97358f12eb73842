import { aCaller } from '@backoffice/testing/caller.ts'
import { describe, expect, it } from 'vitest'
import { aSimpleProduct, aVariableProduct } from '../products/testing/product-samples.ts'
import { importsUnderTest } from './testing/applied-imports.ts'

const imports = await importsUnderTest()
const { checked, outcomes, create, productOf } = imports

const cap = { type: 'VARIABLE_PRODUCT', slug: 'cap', name: 'Cap' }
const size = (value: string) => ({ option1_name: 'Size', option1_value: value })
const caps = (count: number) =>
  Array.from({ length: count }, (_, n) => ({ sku: `C-${n}`, ...cap, ...size(`${n}`), stock: n }))

describe('rows of the type VARIABLE_PRODUCT (OP-278)', () => {
  it('with the same slug create one product with a variant each, beside simple products', async () => {
    const caller = aCaller()
    const rows = [
      {
        sku: 'S',
        ...cap,
        ...size('S'),
        stock: 3,
        price: { NGN: 500 },
        cost: { NGN: 1 },
        tags: ['Wool'],
        status: 'HIDDEN',
      },
      { sku: 'MUG', name: 'Cap', stock: 1 },
      { sku: 'M', ...cap, ...size('M'), opening_stock: 2, price: { NGN: 600 } },
    ]
    expect(await outcomes(caller, 'products', rows)).toEqual(['created', 'created', 'created'])
    const product = await productOf(caller, 'S')
    const option = product.options[0]?.id ?? ''
    expect(product).toMatchObject({
      ...{ name: 'Cap', type: 'VARIABLE_PRODUCT', status: 'HIDDEN', total_stock: 5 },
      price_range: { min: { NGN: 500 }, max: { NGN: 600 } },
      options: [{ name: 'Size', values: ['S', 'M'] }],
      variants: [
        { sku: 'S', stock: 3, price: { NGN: 500 }, attributes: { [option]: 'S' } },
        { sku: 'M', stock: 2, price: { NGN: 600 }, attributes: { [option]: 'M' } },
      ],
    })
    expect(await imports.slugsOf(caller)).toEqual(expect.arrayContaining(['cap', 'cap-2']))
    expect(await imports.wrongStocks(caller)).toEqual([])
  })

  it('update the product and the variants that are there, and add to them; an opening stock changes nothing', async () => {
    const caller = aCaller()
    await outcomes(caller, 'products', caps(2))
    const rows = [
      { sku: 'C-0', ...cap, name: 'Wool cap', tags: ['Wool'], ...size('0'), opening_stock: 9 },
      { sku: 'C-1', type: 'VARIABLE_PRODUCT', stock: 7 },
      { sku: 'C-2', ...cap, name: 'Wool cap', ...size('2'), stock: 5 },
    ]
    expect(await outcomes(caller, 'products', rows)).toEqual(['updated', 'updated', 'created'])
    expect(await productOf(caller, 'C-2')).toMatchObject({
      name: 'Wool cap',
      options: [{ values: ['0', '1', '2'] }],
      variants: [
        { sku: 'C-0', stock: 0 },
        { sku: 'C-1', stock: 7 },
        { sku: 'C-2', stock: 5 },
      ],
    })
    expect(await checked(caller, 'products', rows)).toEqual(['unchanged', 'unchanged', 'unchanged'])
  })

  it('fail alone: the others make the product', async () => {
    const caller = aCaller()
    await create(caller, aSimpleProduct({ name: 'Mug', sku: 'MUG', slug: 'mug' }))
    await create(caller, aVariableProduct({ name: 'Shirt', slug: 'shirt' }))
    const rows = [
      { sku: 'A', ...cap, stock: 1 },
      { sku: 'B', ...cap, ...size('S'), stock: 1 },
      { sku: 'C', ...cap, ...size('S'), stock: 1 },
      { sku: 'D', ...cap, option1_name: 'Colour', option1_value: 'red', stock: 1 },
      { sku: 'E', ...cap, ...size('M') },
      { sku: 'F', ...cap, name: undefined, slug: 'hat', ...size('M'), stock: 1 },
      { sku: 'G', ...cap, slug: undefined, ...size('M'), stock: 1 },
      { sku: 'H', ...cap, slug: 'mug', ...size('M'), stock: 1 },
      { sku: 'MUG', ...cap, ...size('M') },
      { sku: 'I', name: 'Cup', slug: 'cap', stock: 1 },
      { sku: 'J', name: 'Pot', ...size('M'), stock: 1 },
    ]
    const expected = [
      'option1_value unprocessable: needs a value for at least one option',
      'created',
      'option1_value unprocessable: the variant "B" has the same combination',
      'option1_name unprocessable: the product has no such option',
      'stock bad_request: is required for a new variant',
      'name bad_request: is required for a new product',
      expect.stringContaining('slug bad_request: is required for a new variant'),
      expect.stringContaining('slug unprocessable: is that of a SIMPLE_PRODUCT'),
      expect.stringContaining('sku unprocessable: is that of a SIMPLE_PRODUCT'),
      'slug conflict: an earlier row gives "cap" to another product',
      'option1_name unprocessable: belongs to a variant: give the row the type VARIABLE_PRODUCT',
    ]
    expect(await checked(caller, 'products', rows)).toEqual(expected)
    expect(await outcomes(caller, 'products', rows)).toEqual(expected)
    expect((await productOf(caller, 'B')).variants).toHaveLength(1)
  })

  it('create no tag and no option when they fail (OP-56)', async () => {
    const caller = aCaller()
    await outcomes(
      caller,
      'products',
      caps(1).map((row) => ({ ...row, slug: 'hat', tags: ['Wool'] })),
    )
    const rows = [
      { sku: 'A', ...cap, ...size('S'), stock: 1, tags: ['Wool', 'New'] },
      { sku: 'B', ...cap, ...size('S'), stock: 1, tags: ['Never'] },
      { sku: 'C', ...cap, option1_name: 'Never', option1_value: 'x', stock: 1 },
      { sku: 'D', ...cap, slug: 'hat', ...size('0'), stock: 1, tags: ['Never'] },
      { sku: 'E', ...cap, slug: 'hat', ...size('1'), stock: 1, tags: ['wool', 'Warm'] },
    ]
    const statuses = (await outcomes(caller, 'products', rows)).map((outcome) => outcome.split(' ')[0])
    expect(statuses).toEqual(['created', 'option1_value', 'option1_name', 'option1_value', 'created'])
    const namesOf = async (table: string) =>
      await imports.admin<{ id: string; name: string }[]>`
        select id, name from ${imports.admin(table)} where workspace_id = ${caller.workspaceId} order by name`
    const [tags, options] = [await namesOf('tag'), await namesOf('option')]
    expect([...tags, ...options].map(({ name }) => name)).toEqual(['New', 'Warm', 'Wool', 'Size'])
    const [made, known] = [await productOf(caller, 'A'), await productOf(caller, 'E')]
    expect(made.options).toMatchObject([{ id: options[0]?.id }])
    expect(made.variants).toMatchObject([{ attributes: { [options[0]?.id ?? '']: 'S' } }])
    const tagsOf = async ({ id }: { id: string }) =>
      (await imports.recordsOf(caller)).findLast(({ key }) => key === id)?.payload.tags
    expect(await tagsOf(made)).toMatchObject([tags[2] ?? {}, tags[0] ?? {}])
    expect(await tagsOf(known)).toMatchObject([tags[2] ?? {}, tags[1] ?? {}])
  })

  it('leave their slug to others when they fail', async () => {
    const rows = [
      { sku: 'A', ...cap, stock: 1 },
      { sku: 'B', name: 'Cup', slug: 'cap', stock: 1 },
    ]
    const expected = ['option1_value unprocessable: needs a value for at least one option', 'created']
    const caller = aCaller()
    expect(await checked(caller, 'products', rows)).toEqual(expected)
    expect(await outcomes(caller, 'products', rows)).toEqual(expected)
    expect(await imports.slugsOf(caller)).toEqual(['cap'])
  })

  it('set no status that the workspace has switched off, of a product that is there either', async () => {
    const caller = aCaller()
    await outcomes(caller, 'products', caps(1))
    const rows = [
      { sku: 'C-0', ...cap, status: 'ARCHIVED' },
      { sku: 'C-1', ...cap, ...size('1'), stock: 1, status: 'ARCHIVED' },
    ]
    const refused = 'status unprocessable: this workspace does not use ARCHIVED; send one that it uses: ACTIVE, HIDDEN'
    expect(await outcomes(caller, 'products', rows, { statuses: ['ACTIVE', 'HIDDEN'] })).toEqual([refused, refused])
    const unchanged = [{ sku: 'C-0', ...cap, status: 'ACTIVE' }]
    expect(await outcomes(caller, 'products', unchanged, { statuses: ['HIDDEN'] })).not.toContainEqual(
      expect.stringContaining('status'),
    )
  })

  it('are undone as one product', async () => {
    const caller = aCaller()
    const importId = crypto.randomUUID()
    await imports.run(caller, 'products', caps(3), { importId })
    expect(await imports.undone(caller, 'products', importId)).toMatchObject({ deleted: 1, kept: 0 })
    expect(await imports.slugsOf(caller)).toEqual([])
  })

  it('take as many statements for 500 variants as for 10', async () => {
    const counts: number[] = []
    for (const count of [10, 500]) {
      imports.takeStatements()
      expect(await outcomes(aCaller(), 'products', caps(count))).toEqual(Array(count).fill('created'))
      counts.push(imports.takeStatements().length)
    }
    expect(counts[0]).toBe(counts[1])
  })
})
