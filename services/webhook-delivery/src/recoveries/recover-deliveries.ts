import { type ApiError, conflict, unprocessable } from '@backoffice/contracts/errors.ts'
import { Timestamp, TimestampInput } from '@backoffice/contracts/fields.ts'
import { named, namedObject } from '@backoffice/contracts/named.ts'
import { operation } from '@backoffice/http/operation.ts'
import { accepted } from '@backoffice/http/reply.ts'
import { databaseTime } from '@backoffice/postgres/database-clock.ts'
import { countByHours } from '@backoffice/postgres/lists/hour-page.ts'
import { z } from 'zod'
import { deliveriesOf } from '../history/list-deliveries.ts'
import { type Recovery, readRecovery } from './recovery.ts'

/**
 * POST /v1/webhooks/{id}/recover (extension, OP-101): sends again what failed since some time (until some time, of
 * some types: OP-251), once each and paced, so that fresh events come first (recovery-worker.ts). Answers how many
 * deliveries that is, by the counts that are kept. An endpoint has one open recovery (OP-195); one that has ended makes
 * way for the new one.
 */
export const recoverDeliveries = operation({
  operationId: 'recoverWebhookDeliveries',
  method: 'POST',
  path: '/v1/webhooks/{id}/recover',
  summary: 'Send again what failed since some time',
  scope: 'webhook::create',
  body: namedObject(
    'RecoveryInput',
    {
      since: TimestampInput,
      until: TimestampInput.optional(),
      event_types: z.array(z.string().min(1).max(255)).min(1).max(100).nullish(),
    },
    { since: '2026-03-01T12:00:00Z' },
  ),
  responses: {
    202: named('Recovery', z.strictObject({ since: Timestamp, deliveries: z.int() }), {
      since: '2026-03-01T12:00:00.000Z',
      deliveries: 2500,
    }),
  },
  refusals: ['conflict'],
  openPoints: ['OP-01', 'OP-08', 'OP-66', 'OP-101', 'OP-195', 'OP-251'],
  extension: true,

  handle: ({ params: { id }, body, inWorkspace }) =>
    inWorkspace(async (tx) => {
      const [since, now] = [new Date(body.since), await databaseTime(tx)]
      if (since > now) throw unprocessable(['since'], 'lies in the future; send the time from which deliveries failed')
      const until = new Date(Math.min(Date.parse(body.until ?? now.toISOString()), now.getTime()))
      if (until <= since && body.until) throw unprocessable(['until'], 'must be later than since')
      const types = body.event_types ?? undefined
      const failed = deliveriesOf(tx, id, {
        status: 'FAILED',
        since: since.toISOString(),
        until: body.until,
        event_types: types,
      })
      const deliveries = await countByHours(tx, failed)
      const { count } = await tx`
        insert into recovery (workspace_id, endpoint_id, since, until, event_types, started_at, after_id, deliveries)
        select workspace_id, id, ${since}, ${until}, ${types ?? null}::text[], ${now}, least_id(${since}), ${deliveries}
        from endpoint where workspace_id = ${tx.context.workspaceId} and id = ${id}
        on conflict (workspace_id, endpoint_id) do update set
          since = excluded.since, until = excluded.until, event_types = excluded.event_types,
          started_at = excluded.started_at, after_id = excluded.after_id, deliveries = excluded.deliveries,
          sent_again = 0, status = 'RUNNING', ended_at = null, next_step_at = now()
        where recovery.status <> 'RUNNING'`
      if (count === 0) throw isOpen(id, await readRecovery(tx, id))
      return accepted({ since: since.toISOString(), deliveries })
    }),
})

const isOpen = (id: string, { since, sent_again, deliveries }: Recovery): ApiError =>
  conflict(
    ['id'],
    `has an open recovery since ${since.toISOString()}, which has sent ${sent_again} of ${deliveries} deliveries; ` +
      `wait for its end (GET /v1/webhooks/${id}/recovery) or cancel it (POST /v1/webhooks/${id}/recovery/cancel)`,
  )
