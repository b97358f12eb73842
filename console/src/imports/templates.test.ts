import { openAsBlob } from 'node:fs'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { importTemplate } from '@backoffice/contracts/import-templates.ts'
import { TEMPLATES } from '@backoffice/contracts/imports.ts'
import { whenDone } from '@backoffice/testing/when-done.ts'
import { expect, it } from 'vitest'
import { headerOf, isForeign, templateOf } from './templates.ts'

const templates = TEMPLATES.map(importTemplate)
const guessed = async (text: string) => templateOf(await headerOf(new Blob([text])), templates)?.key

it.each(templates)('knows a file of the template $key by its header', async ({ key, header }) => {
  expect(await guessed(`${header.join(',')}\n`)).toBe(key)
})

it('knows a file by some of its columns, whatever separates them, behind a byte order mark, and when corrected', async () => {
  expect(await guessed('\uFEFFsep=;\n\n"SKU";"Name";"Price";"error"\nMUG;Mug;1;x')).toBe('products')
  expect(await guessed('sku,stock\nMUG,1')).toBe('stock')
  expect(await guessed('email\tfirstname\na@b.example\tAda')).toBe('customers')
  expect(await guessed('Handle,Title,Body (HTML),Option1 Name,Variant SKU\n')).toBe('products')
  expect(await guessed('who,knows\n1,2')).toBeUndefined()
})

it('asks for a currency only where a file has columns of another platform', () => {
  const products = templates.find(({ key }) => key === 'products')
  expect(products && isForeign(['sku', 'stock', 'error'], products)).toBe(false)
  expect(products && isForeign(['sku', 'regular price'], products)).toBe(true)
})

it('says of a file that was saved anew that it is chosen again', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'chosen-'))
  whenDone(() => rm(folder, { recursive: true }))
  const path = join(folder, 'stock.csv')
  await writeFile(path, 'sku,stock\n')
  const file = await openAsBlob(path)
  expect(await headerOf(file)).toEqual(['sku', 'stock'])
  await writeFile(path, 'sku,stock,name\n')
  await expect(headerOf(file)).rejects.toThrow('choose it again')
})
