import { ImportTemplate, importTemplate } from '@backoffice/contracts/import-templates.ts'
import { TEMPLATES } from '@backoffice/contracts/imports.ts'
import { namedObject } from '@backoffice/contracts/named.ts'
import { operation } from '@backoffice/http/operation.ts'
import { ok } from '@backoffice/http/reply.ts'
import { z } from 'zod'

/** GET /v1/imports/templates (spec: Imports): every template with its exact header and the rules of its columns. */
export const listTemplates = operation({
  operationId: 'listImportTemplates',
  method: 'GET',
  path: '/v1/imports/templates',
  summary: 'List the import templates',
  scope: 'import::read',
  responses: {
    200: namedObject(
      'ImportTemplateList',
      { templates: z.array(ImportTemplate) },
      { templates: [importTemplate('stock')] },
    ),
  },
  openPoints: ['OP-53', 'OP-54', 'OP-118', 'OP-131', 'OP-278'],

  handle: async () => ok({ templates: TEMPLATES.map(importTemplate) }),
})
