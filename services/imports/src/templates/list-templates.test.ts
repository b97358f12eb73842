import { importTemplate } from '@backoffice/contracts/import-templates.ts'
import { TEMPLATES } from '@backoffice/contracts/imports.ts'
import { aCaller } from '@backoffice/testing/caller.ts'
import { expect, it } from 'vitest'
import { importsApi } from '../testing/imports-api.ts'

const { send } = await importsApi()

it('lists every template with its exact header and the rules of its columns (spec: Imports)', async () => {
  const { status, body } = await send(aCaller({ scopes: ['import::read'] }), 'GET', '/v1/imports/templates')
  expect([status, body]).toEqual([200, { templates: TEMPLATES.map(importTemplate) }])
})

it('needs the scope import::read', async () => {
  expect((await send(aCaller({ scopes: ['product'] }), 'GET', '/v1/imports/templates')).status).toBe(403)
})
