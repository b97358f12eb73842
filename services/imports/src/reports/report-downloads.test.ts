import type { Import } from '@backoffice/contracts/import.ts'
import { aCaller, type Caller } from '@backoffice/testing/caller.ts'
import { describe, expect, it } from 'vitest'
import { importsService } from '../testing/imports-service.ts'

const { applied, atRest, post, report, send } = await importsService('catalog')

const download = async (caller: Caller, id: string, file: 'errors.csv' | 'corrected.csv') =>
  (await send<string>(caller, 'GET', `/v1/imports/${id}/${file}`)).body.replace('\ufeff', '').split('\r\n')

describe('the files of a report', () => {
  it('have the bad rows, then those that could not be applied, which can be corrected and uploaded (OP-52, OP-148)', async () => {
    const caller = aCaller()
    const file = (sku: string) =>
      `name,slug,sku,stock,price,tags\nMug,mug,${sku},4,NGN:1;USD:2,a;b\n=Cup,,${sku}-2,x,,\n`
    const uploaded = [
      (await post(caller, 'products', file('A'))).body,
      (await post(caller, 'products', file('B'))).body,
    ]
    for (const { id } of uploaded) expect((await atRest(caller, id)).status).toBe('INVALID')
    for (const { id } of uploaded) await send(caller, 'POST', `/v1/imports/${id}/start?skip_invalid=true`)
    const [first, second] = uploaded.map(({ id }) => id) as [string, string]
    for (const id of [first, second]) expect((await atRest(caller, id)).status).toBe('COMPLETED_WITH_ERRORS')

    expect((await report(caller, first)).summary).toMatchObject({ created: 1, failed: 0, invalid_rows: 1 })
    const { summary } = await report(caller, second)
    expect(summary).toMatchObject({ total_rows: 2, valid_rows: 1, invalid_rows: 1, created: 0, updated: 0, failed: 1 })
    expect(summary.errors.map(({ row, column, code }) => [row, column, code])).toEqual([
      [2, 'slug', 'conflict'],
      [3, 'stock', 'bad_request'],
    ])
    const mistake = 'stock: must be a whole number such as 12, without separators'
    const conflict = '"slug: ""mug"" belongs to another product of this workspace"'
    expect(await download(caller, second, 'corrected.csv')).toEqual([
      'name,slug,sku,stock,price,tags,error',
      `'=Cup,,B-2,x,,,"${mistake}"`,
      `Mug,mug,B,4,NGN:1;USD:2,a;b,${conflict}`,
      '',
    ])
    expect((await download(caller, second, 'errors.csv')).map((line) => line.split(',').slice(0, 3))).toEqual([
      ['row', 'column', 'code'],
      ['3', 'stock', 'bad_request'],
      ['2', 'slug', 'conflict'],
      [''],
    ])

    const corrected = (await download(caller, second, 'corrected.csv')).join('\r\n')
    const again = await applied(caller, 'products', corrected.replace(',x,', ',5,').replace('Mug,mug,', 'Mug,mug-b,'))
    expect([again.status, again.summary.created, again.summary.errors]).toEqual(['COMPLETED', 2, []])
  })

  it('keep the separator and the header of the file, also for rows that could not be applied', async () => {
    const caller = aCaller()
    const file = (sku: string) => `sep=;\n\nSKU;Name;Slug;Stock\n${sku};Mug, blue;mug;4\nB;Cup;;x\n`
    const uploaded = [
      (await post(caller, 'products', file('A'))).body,
      (await post(caller, 'products', file('C'))).body,
    ]
    for (const { id } of uploaded) expect((await atRest(caller, id)).status).toBe('INVALID')
    for (const { id } of uploaded) await send(caller, 'POST', `/v1/imports/${id}/start?skip_invalid=true`)
    for (const { id } of uploaded) expect((await atRest(caller, id)).status).toBe('COMPLETED_WITH_ERRORS')
    const id = uploaded[1]?.id ?? ''
    const corrected = await download(caller, id, 'corrected.csv')
    const mistake = 'stock: must be a whole number such as 12, without separators'
    const conflict = '"slug: ""mug"" belongs to another product of this workspace"'
    expect(corrected).toEqual(['SKU;Name;Slug;Stock;error', `B;Cup;;x;${mistake}`, `C;Mug, blue;mug;4;${conflict}`, ''])
    expect((await download(caller, id, 'errors.csv')).map((line) => line.split(';').slice(0, 3))).toEqual([
      ['row', 'column', 'code'],
      ['4', 'stock', 'bad_request'],
      ['3', 'slug', 'conflict'],
      [''],
    ])
  })

  it('are there once the file is validated, and 404 in another workspace', async () => {
    const caller = aCaller()
    const { id } = (await post<Import>(caller, 'products', 'sku,name,stock\nA,Mug,1\n')).body
    await atRest(caller, id)
    expect(await download(caller, id, 'errors.csv')).toEqual(['row,column,code,message,value', ''])
    expect(await download(caller, id, 'corrected.csv')).toEqual(['sku,name,stock,error', ''])
    for (const file of ['errors.csv', 'corrected.csv']) {
      expect((await send(aCaller(), 'GET', `/v1/imports/${id}/${file}`)).status).toBe(404)
    }
  })

  it('come whole, however long the header of the file is', async () => {
    const caller = aCaller()
    const name = 'x, '.repeat(100_000)
    const { id } = (await post<Import>(caller, 'stock', `sku,stock,"${name}"\nA,1,1\n`)).body
    expect((await atRest(caller, id)).status).toBe('INVALID')
    expect(await download(caller, id, 'corrected.csv')).toEqual([`sku,stock,"${name}",error`, ''])
  })
})
