import { importTemplate, TEMPLATE_ROWS } from '@backoffice/contracts/import-templates.ts'
import { TEMPLATES } from '@backoffice/contracts/imports.ts'
import { operation } from '@backoffice/http/operation.ts'
import { Streamed } from '@backoffice/http/streamed.ts'
import { z } from 'zod'
import { CSV, csvFile, csvLines } from '../files/csv-lines.ts'

/** GET /v1/imports/templates/{key}.csv (extension): a file of the template, with its header and a row as an example. */
export const getTemplateFile = operation({
  operationId: 'getImportTemplateFile',
  method: 'GET',
  path: '/v1/imports/templates/{key}.csv',
  summary: 'Download an import template with an example row',
  scope: 'import::read',
  params: z.strictObject({ key: z.enum(TEMPLATES) }),
  responses: { 200: new Streamed(CSV, 'sku,stock\nLINEN-M,5\n') },
  openPoints: ['OP-54', 'OP-148'],
  extension: true,

  async handle({ params: { key } }) {
    const { header } = importTemplate(key)
    const example: Readonly<Record<string, string>> = TEMPLATE_ROWS[key].example
    // The row validates: what is downloaded can be uploaded.
    return csvFile([csvLines([header, header.map((name) => example[name] ?? '')])], `${key}.csv`)
  },
})
