import { notFound } from '@backoffice/contracts/errors.ts'
import { Id, Timestamp } from '@backoffice/contracts/fields.ts'
import { namedObject } from '@backoffice/contracts/named.ts'
import { operation } from '@backoffice/http/operation.ts'
import { ok } from '@backoffice/http/reply.ts'
import type { Transaction } from '@backoffice/postgres/database.ts'
import { z } from 'zod'

/** What an erasure has done. */
const Erasure = namedObject(
  'CustomerErasure',
  {
    customer: Id,
    state: z.enum(['RUNNING', 'DONE']),
    /** The invoices that keep their buyer, of the orders that it has been through. */
    kept_invoices: z.int(),
    requested_at: Timestamp,
    done_at: Timestamp.nullable(),
  },
  {
    customer: '0198c7a0-0000-7000-8000-000000000020',
    state: 'DONE',
    kept_invoices: 3,
    requested_at: '2026-03-01T12:00:00.000Z',
    done_at: '2026-03-01T12:00:02.000Z',
  },
)

/** GET /v1/customers/{id}/erasure (extension of OP-218). Throws `not_found` for a customer that was not erased. */
export const getErasure = operation({
  operationId: 'getCustomerErasure',
  method: 'GET',
  path: '/v1/customers/{id}/erasure',
  summary: 'Read what the erasure of a customer has done, and what it keeps',
  scope: 'customer::read',
  responses: { 200: Erasure },
  openPoints: ['OP-130', 'OP-217', 'OP-218'],
  extension: true,

  handle: ({ params: { id }, inWorkspace }) => inWorkspace(async (tx) => ok(await readErasure(tx, id))),
})

async function readErasure(tx: Transaction, id: string): Promise<z.output<typeof Erasure>> {
  const [found] = await tx<{ stage: string; invoices: number; requestedAt: Date; doneAt: Date | null }[]>`
    select stage, invoices::float8 as invoices, created_at as "requestedAt", done_at as "doneAt"
    from customer_erasure where workspace_id = ${tx.context.workspaceId} and id = ${id}`
  if (found === undefined) throw notFound(['id'], `no customer ${id} was erased in this workspace`)
  return {
    customer: id,
    state: found.stage === 'DONE' ? 'DONE' : 'RUNNING',
    kept_invoices: found.invoices,
    requested_at: found.requestedAt.toISOString(),
    done_at: found.doneAt?.toISOString() ?? null,
  }
}
