import { readFileSync } from 'node:fs'
import { apiTypesOf } from '@backoffice/app-sdk/generate/api-types.ts'
import { expect, it } from 'vitest'
import { wholeDocument } from './openapi-document.ts'

it('the types of the API are those of the OpenAPI document: else run `npm run generate:api`', async () => {
  const committed = readFileSync(new URL('../../libs/app-sdk/src/api-types.ts', import.meta.url), 'utf8')
  expect(committed === (await apiTypesOf(wholeDocument()))).toBe(true)
})
