import { notFound } from '@backoffice/contracts/errors.ts'
import { Id, Timestamp } from '@backoffice/contracts/fields.ts'
import { namedObject } from '@backoffice/contracts/named.ts'
import { operation } from '@backoffice/http/operation.ts'
import { ok } from '@backoffice/http/reply.ts'
import { z } from 'zod'

const Placement = namedObject(
  'Placement',
  {
    order: Id,
    state: z.enum(['WAITING', 'REFUSED']),
    reason: z.string().nullable(),
    attempts: z.int(),
    next_attempt_at: Timestamp.nullable(),
    created_at: Timestamp,
  },
  {
    order: '0198c7a0-0000-7000-8000-000000000030',
    state: 'REFUSED',
    reason: 'items[0].quantity: only 1 of "LINEN-M" left; order 1 at most',
    attempts: 2,
    next_attempt_at: null,
    created_at: '2026-03-01T12:05:00.000Z',
  },
)
interface PlacementRow {
  readonly reason: string | null
  readonly attempts: number
  readonly nextAttemptAt: Date | null
  readonly createdAt: Date
}

/** GET /v1/orders/{id}/placement (extension of OP-47): why a paid order is at CART still. */
export const getPlacement = operation({
  operationId: 'getOrderPlacement',
  method: 'GET',
  path: '/v1/orders/{id}/placement',
  summary: 'Read why a paid order is not placed yet',
  scope: 'sale::read',
  responses: { 200: Placement },
  openPoints: ['OP-47'],
  extension: true,

  handle: ({ params: { id }, inWorkspace }) =>
    inWorkspace(async (tx) => {
      const [row] = await tx<PlacementRow[]>`
        select reason, attempts, next_attempt_at as "nextAttemptAt", created_at as "createdAt"
        from placement where workspace_id = ${tx.context.workspaceId} and order_id = ${id}`
      if (row === undefined) throw notFound(['id'], `this workspace has no paid order ${id} that is to be placed`)
      const { reason, attempts, nextAttemptAt, createdAt } = row
      return ok({
        order: id,
        state: nextAttemptAt === null ? 'REFUSED' : 'WAITING',
        reason,
        attempts,
        next_attempt_at: nextAttemptAt?.toISOString() ?? null,
        created_at: createdAt.toISOString(),
      })
    }),
})
