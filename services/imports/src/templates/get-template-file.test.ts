import { TEMPLATES } from '@backoffice/contracts/imports.ts'
import { aCaller } from '@backoffice/testing/caller.ts'
import { expect, it } from 'vitest'
import { importsService } from '../testing/imports-service.ts'

const { applied, send } = await importsService('catalog', 'collections', 'orders')
const fileOf = async (key: string) => {
  const { body } = await send<string>(aCaller(), 'GET', `/v1/imports/templates/${key}.csv`)
  return body
}

it('the files of the templates can be uploaded and applied as they are, once what they refer to is there (OP-54)', async () => {
  const caller = aCaller()
  const shirt = {
    ...{ name: 'Shirt', slug: 'shirt', type: 'VARIABLE_PRODUCT' },
    options: [
      { name: 'Color', values: ['Blue'] },
      { name: 'Size', values: ['M'] },
    ],
    variants: [{ sku: 'BLUE', stock: 1, attributes: { Color: 'Blue', Size: 'M' } }],
  }
  const created = await send(caller, 'POST', '/v1/products', shirt)
  expect(created.status, JSON.stringify(created.body)).toBe(201)
  for (const key of TEMPLATES) {
    const { status, summary } = await applied(caller, key, await fileOf(key))
    const isThere = key === 'stock'
    expect({ key, status, ...summary }).toMatchObject({
      ...{ key, status: 'COMPLETED', total_rows: 1, failed: 0, errors: [] },
      ...{ created: isThere ? 0 : 1, updated: isThere ? 1 : 0 },
    })
  }
  const totals = await Promise.all(
    ['products', 'categories', 'collections', 'customers'].map(async (name) => {
      const { body } = await send<{ total: number }>(caller, 'GET', `/v1/${name}`)
      return [name, body.total]
    }),
  )
  expect(Object.fromEntries(totals)).toEqual({ products: 2, categories: 1, collections: 1, customers: 1 })
})

it('applied again they update, and bad rows of every template are left out', async () => {
  const caller = aCaller()
  const bad = {
    categories: 'slug,name,position\nmugs,Mugs,1\ncups,Cups,first',
    customers: 'email,firstname\nada@example.com,Ada\nnobody,No',
    collections: 'handle,name,sort_order\nsummer,Summer,TITLE_ASC\nwinter,Winter,COLDEST',
  } as const
  for (const [key, content] of Object.entries(bad) as [keyof typeof bad, string][]) {
    const counts = { total_rows: 2, valid_rows: 1, invalid_rows: 1, failed: 0 }
    expect(await applied(caller, key, content)).toMatchObject({
      status: 'COMPLETED_WITH_ERRORS',
      summary: { ...counts, created: 1 },
    })
    expect(await applied(caller, key, content)).toMatchObject({
      status: 'COMPLETED_WITH_ERRORS',
      summary: { ...counts, updated: 1 },
    })
  }
})
