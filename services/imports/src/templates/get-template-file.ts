import { Readable } from 'node:stream'
import { importTemplate, TEMPLATE_ROWS } from '@backoffice/contracts/import-templates.ts'
import { TEMPLATES, type Template } from '@backoffice/contracts/imports.ts'
import { operation } from '@backoffice/http/operation.ts'
import { okStream } from '@backoffice/http/reply.ts'
import { Streamed, savedAs } from '@backoffice/http/streamed.ts'
import { z } from 'zod'
import { CSV, csvLines } from '../files/csv-lines.ts'

/** GET /v1/imports/templates/{key}.csv (extension): a file of the template, with its header and a row as an example. */
export const getTemplateFile = operation({
  operationId: 'getImportTemplateFile',
  method: 'GET',
  path: '/v1/imports/templates/{key}.csv',
  summary: 'Download an import template with an example row',
  scope: 'import::read',
  params: z.strictObject({ key: z.enum(TEMPLATES) }),
  responses: { 200: new Streamed(CSV) },
  openPoints: ['OP-54', 'OP-148'],
  extension: true,

  handle: async ({ params: { key } }) => okStream(CSV, Readable.from([templateFile(key)]), savedAs(`${key}.csv`)),
})

/** The header of a template and a row that validates. Its cells stay as they are: what is downloaded can be uploaded. */
export function templateFile(key: Template): string {
  const { header } = importTemplate(key)
  const example: Readonly<Record<string, string>> = TEMPLATE_ROWS[key].example
  return csvLines([header, header.map((name) => example[name] ?? '')])
}
