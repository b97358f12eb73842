import type { ErrorBody } from '@backoffice/contracts/errors.ts'
import type { Import } from '@backoffice/contracts/import.ts'
import { aCaller } from '@backoffice/testing/caller.ts'
import { expect, it } from 'vitest'
import { importsApi } from '../testing/imports-api.ts'

const { send, takeStatements, upload } = await importsApi()

interface Page {
  readonly items: Import[]
  readonly total: number
}

it('lists the imports of the workspace, newest first, page by page (OP-03, OP-50)', async () => {
  const caller = aCaller()
  const uploaded: Import[] = []
  for (let n = 0; n < 5; n++) uploaded.unshift((await upload(caller)).body)
  await upload(aCaller())
  const page = async (query: string) => (await send<Page>(caller, 'GET', `/v1/imports${query}`)).body
  expect(await page('')).toMatchObject({ items: uploaded, total: 5 })
  expect((await page('?page=2&limit=2')).items).toEqual(uploaded.slice(2, 4))
  expect((await page('?page=4&limit=2')).items).toEqual([])
  takeStatements()
  await page('?limit=5')
  expect(takeStatements().filter((text) => !/^\s*(begin|commit|select set_config)/.test(text)).length).toBeLessThan(3)
})

it('refuses a page that is no number, and an unknown filter, with bad_request', async () => {
  for (const query of ['?page=x', '?status=FAILED']) {
    expect((await send<ErrorBody>(aCaller(), 'GET', `/v1/imports${query}`)).status).toBe(400)
  }
})

it('needs the scope import::read', async () => {
  const { status } = await send<ErrorBody>(aCaller({ scopes: ['import::create'] }), 'GET', '/v1/imports')
  expect(status).toBe(403)
})
