import { notFound } from '@backoffice/contracts/errors.ts'
import { Timestamp } from '@backoffice/contracts/fields.ts'
import { namedObject } from '@backoffice/contracts/named.ts'
import type { Transaction } from '@backoffice/postgres/database.ts'
import { z } from 'zod'
import { noSuchEndpoint } from '../endpoints/endpoint.ts'

/** The recovery of an endpoint, as its owner follows it (OP-195). */
export const EndpointRecovery = namedObject(
  'EndpointRecovery',
  {
    status: z.enum(['RUNNING', 'COMPLETED', 'CANCELLED']),
    since: Timestamp,
    deliveries: z.int(),
    sent_again: z.int(),
    started_at: Timestamp,
    ended_at: Timestamp.nullable(),
  },
  {
    status: 'RUNNING',
    since: '2026-03-01T12:00:00.000Z',
    deliveries: 2500,
    sent_again: 300,
    started_at: '2026-03-01T14:30:00.000Z',
    ended_at: null,
  },
)

/** The members of a recovery's body, as columns. */
export const recoveryColumns = (tx: Transaction) => tx`
  recovery.status, recovery.since, recovery.deliveries, recovery.sent_again, recovery.started_at, recovery.ended_at`

export interface Recovery {
  readonly status: string | null
  readonly since: Date
  readonly deliveries: number
  readonly sent_again: number
}

/** Reads the recovery of an endpoint: the open one, else the last one. Throws `not_found`. */
export async function readRecovery(tx: Transaction, endpointId: string): Promise<Recovery> {
  const [row] = await tx<Recovery[]>`
    select ${recoveryColumns(tx)}
    from endpoint
    left join recovery on recovery.workspace_id = endpoint.workspace_id and recovery.endpoint_id = endpoint.id
    where endpoint.workspace_id = ${tx.context.workspaceId} and endpoint.id = ${endpointId}`
  if (row === undefined) throw noSuchEndpoint(endpointId)
  if (row.status !== null) return row
  throw notFound(
    ['id'],
    `webhook endpoint ${endpointId} has no recovery; POST /v1/webhooks/${endpointId}/recover starts one`,
  )
}
