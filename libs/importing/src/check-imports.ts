import { ImportCheck, ImportCheckAnswer } from '@backoffice/contracts/imports.ts'
import { operation } from '@backoffice/http/operation.ts'
import { ok } from '@backoffice/http/reply.ts'
import { type Importers, importerOf } from './importer.ts'
import { RowOutcomes } from './row-outcomes.ts'
import { throttled } from './throttle.ts'

/**
 * POST /internal/imports/check: what applying these rows would do at this moment (OP-52, OP-55, OP-56). Throws
 * `unprocessable` for a template of another service. PostgreSQL refuses writes and row locks in the transaction, so a
 * check waits for no other transaction. Rows that are too much for one are left out when the caller takes parts.
 */
export const checkImports = (importers: Importers) =>
  operation({
    method: 'POST',
    path: '/internal/imports/check',
    scope: 'internal',
    body: ImportCheck,
    responses: { 200: ImportCheckAnswer },

    handle({ body, now, inWorkspace }) {
      const importer = importerOf(importers, body.template)
      return throttled((throttle) =>
        inWorkspace(async (tx) => {
          await tx`set transaction read only`
          const inTransaction = body.in_parts ? (atMost: number) => atMost : throttle.inTransaction
          const outcomes = new RowOutcomes({ ...throttle, inTransaction })
          const plan = importer.plan(tx, { ...body, isCheck: true }, outcomes, now)
          for await (const _ of plan) {
            // The changes are not written.
          }
          return ok(outcomes.checked(body.rows))
        }),
      )
    },
  })
