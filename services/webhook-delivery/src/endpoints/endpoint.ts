import { type ApiError, notFound } from '@backoffice/contracts/errors.ts'
import { Description, Id, Timestamp } from '@backoffice/contracts/fields.ts'
import { named } from '@backoffice/contracts/named.ts'
import type { Transaction } from '@backoffice/postgres/database.ts'
import { raiseVersion } from '@backoffice/postgres/versioned-cache.ts'
import { z } from 'zod'

const EXAMPLE = {
  id: '0198c7a0-0000-7000-8000-000000000050',
  url: 'https://shop.example.com/hooks',
  enabled_events: ['order.paid', 'product.updated'],
  description: null,
  standard_signature: false,
  created_at: '2026-03-01T12:00:00.000Z',
  updated_at: '2026-03-01T12:00:00.000Z',
}

/** An endpoint's body, without its secrets (OP-60, OP-62). */
export const Endpoint = named(
  'WebhookEndpoint',
  z.strictObject({
    id: Id,
    url: z.string(),
    enabled_events: z.array(z.string()),
    description: Description.nullable(),
    standard_signature: z.boolean(),
    created_at: Timestamp,
    updated_at: Timestamp,
  }),
  EXAMPLE,
)

/** The answer when an endpoint is created or its secret rotated: the only answers with the secret. */
export const EndpointWithSecret = named(
  'WebhookEndpointWithSecret',
  z.strictObject({ ...Endpoint.shape, secret: z.string() }),
  { ...EXAMPLE, secret: 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw' },
)

type Endpoint = z.output<typeof Endpoint>

/** The part of an endpoint's row that its body is made of. */
export type EndpointRow = Omit<Endpoint, 'created_at' | 'updated_at'> & { created_at: Date; updated_at: Date }

export const endpointView = (row: EndpointRow): Endpoint => ({
  id: row.id,
  url: row.url,
  enabled_events: row.enabled_events,
  description: row.description,
  standard_signature: row.standard_signature,
  created_at: row.created_at.toISOString(),
  updated_at: row.updated_at.toISOString(),
})

/** The columns of an EndpointRow. */
export const endpointColumns = (tx: Transaction) => tx`
  id, url, enabled_events, description, standard_signature, created_at, updated_at`

export const noSuchEndpoint = (id: string): ApiError => notFound(['id'], `this workspace has no webhook endpoint ${id}`)

/** Locks an endpoint for the rest of the transaction and returns it as it is then. Throws `not_found`. */
export async function lockEndpoint(tx: Transaction, id: string): Promise<EndpointRow> {
  const [row] = await tx<EndpointRow[]>`
    select ${endpointColumns(tx)}
    from endpoint where workspace_id = ${tx.context.workspaceId} and id = ${id} for no key update`
  if (row === undefined) throw noSuchEndpoint(id)
  return row
}

/** Makes every process read the workspace's endpoints again. Call it with the endpoint locked, against deadlocks. */
export const endpointsChanged = (tx: Transaction): Promise<void> =>
  raiseVersion(tx, 'endpoint_set', tx.context.workspaceId)
