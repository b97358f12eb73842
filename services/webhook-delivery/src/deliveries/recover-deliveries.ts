import { unprocessable } from '@backoffice/contracts/errors.ts'
import { Timestamp, TimestampInput } from '@backoffice/contracts/fields.ts'
import { named } from '@backoffice/contracts/named.ts'
import { operation } from '@backoffice/http/operation.ts'
import { accepted } from '@backoffice/http/reply.ts'
import { databaseTime } from '@backoffice/postgres/database-clock.ts'
import { v7 as uuidv7 } from 'uuid'
import { z } from 'zod'
import { noSuchEndpoint } from '../endpoints/endpoint.ts'

/**
 * POST /v1/webhooks/{id}/recover (extension, OP-101): sends again what failed since some time, once each and paced, so
 * that fresh events come first (recovery-worker.ts). Answers how many deliveries that is.
 */
export const recoverDeliveries = operation({
  operationId: 'recoverWebhookDeliveries',
  method: 'POST',
  path: '/v1/webhooks/{id}/recover',
  summary: 'Send again what failed since some time',
  scope: 'webhook::create',
  body: named('RecoveryInput', z.strictObject({ since: TimestampInput })),
  responses: { 202: named('Recovery', z.strictObject({ since: Timestamp, deliveries: z.int() })) },
  openPoints: ['OP-01', 'OP-08', 'OP-66', 'OP-101'],
  extension: true,

  handle({ params, body, inWorkspace }) {
    const since = new Date(body.since)
    return inWorkspace(async (tx) => {
      const now = await databaseTime(tx)
      if (since > now) throw unprocessable(['since'], 'lies in the future; send the time from which deliveries failed')
      const workspace = tx.context.workspaceId
      const [recovery] = await tx<{ deliveries: number }[]>`
        with noted as (
          insert into recovery (workspace_id, id, endpoint_id, since, until, after_id)
          select workspace_id, ${uuidv7()}, id, ${since}, ${now}, least_id(${since}) from endpoint
          where workspace_id = ${workspace} and id = ${params.id}
          returning endpoint_id
        )
        select (
          select count(*) from delivery
          where workspace_id = ${workspace} and delivery.endpoint_id = noted.endpoint_id and status = 'FAILED'
            and delivery.id >= least_id(${since}) and created_at <= ${now}
        ) as deliveries
        from noted`
      if (recovery === undefined) throw noSuchEndpoint(params.id)
      return accepted({ since: since.toISOString(), deliveries: recovery.deliveries })
    })
  },
})
