import { namedObject } from '@backoffice/contracts/named.ts'
import { operation } from '@backoffice/http/operation.ts'
import { ok } from '@backoffice/http/reply.ts'
import { z } from 'zod'

/** A workspace's own order form: a JSON Schema, or null when the default form alone holds. */
export const FormSchemaBody = namedObject(
  'OrderFormSchema',
  { schema: z.record(z.string(), z.unknown()).nullable() },
  {
    schema: { type: 'object', required: ['gift_note'], properties: { gift_note: { type: 'string', maxLength: 200 } } },
  },
)
export type FormSchemaBody = z.output<typeof FormSchemaBody>

/** GET /v1/orders/form (extension of OP-41): the workspace's own order form. */
export const getFormSchema = operation({
  operationId: 'getOrderFormSchema',
  method: 'GET',
  path: '/v1/orders/form',
  summary: "Read the workspace's order form",
  scope: 'sale::read',
  responses: { 200: FormSchemaBody },
  openPoints: ['OP-41'],
  extension: true,

  handle: ({ inWorkspace }) =>
    inWorkspace(async (tx) => {
      const [row] = await tx<FormSchemaBody[]>`
        select schema from order_form_schema where workspace_id = ${tx.context.workspaceId}`
      return ok(row ?? { schema: null })
    }),
})
