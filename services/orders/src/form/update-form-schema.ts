import { unprocessable } from '@backoffice/contracts/errors.ts'
import { exampleOf, namedObject } from '@backoffice/contracts/named.ts'
import { operation } from '@backoffice/http/operation.ts'
import { ok } from '@backoffice/http/reply.ts'
import type { FormValidator } from './form-validator.ts'
import { FormSchemaBody } from './get-form-schema.ts'

const MAX_BYTES = 64 * 1024

/** PUT /v1/orders/form (extension of OP-41): replaces the workspace's order form; null resets it. In force at once. */
export const updateFormSchema = (validator: FormValidator) =>
  operation({
    operationId: 'updateOrderFormSchema',
    method: 'PUT',
    path: '/v1/orders/form',
    summary: "Replace the workspace's order form",
    scope: 'sale::update',
    body: namedObject('OrderFormSchemaInput', FormSchemaBody.shape, exampleOf(FormSchemaBody)),
    responses: { 200: FormSchemaBody },
    openPoints: ['OP-41', 'OP-134', 'OP-135'],
    extension: true,

    async handle({ body: { schema }, context, now, inWorkspace }) {
      const text = schema && JSON.stringify(schema)
      if (text !== null) {
        if (Buffer.byteLength(text) > MAX_BYTES)
          throw unprocessable(['schema'], `must not be above ${MAX_BYTES} bytes of JSON`)
        await validator.checkSchema(context.workspaceId, text)
      }
      return inWorkspace(async (tx) => {
        // Of two at once, the later holds.
        await tx`
          insert into order_form_schema as known (workspace_id, version, schema, updated_at)
          values (${tx.context.workspaceId}, 1, ${text}::text::json, ${now})
          on conflict (workspace_id) do update
            set version = known.version + 1, schema = excluded.schema, updated_at = excluded.updated_at`
        return ok({ schema })
      })
    },
  })
