import { EnabledEvents } from '@backoffice/contracts/enabled-events.ts'
import { type ApiError, notFound } from '@backoffice/contracts/errors.ts'
import { Description, Id, Timestamp } from '@backoffice/contracts/fields.ts'
import { members, type RecordOf } from '@backoffice/contracts/members.ts'
import { namedObject } from '@backoffice/contracts/named.ts'
import type { Transaction } from '@backoffice/postgres/database.ts'
import { z } from 'zod'

/** The members of an endpoint, without its secrets (OP-60, OP-62). Which `url` is allowed depends on the deployment. */
export const ENDPOINT = members({
  id: { sql: 'uuid', shape: Id, shown: 'answer' },
  url: { sql: 'text', shape: z.string(), input: z.string(), required: true, shown: 'answer' },
  enabled_events: {
    sql: 'text[]',
    shape: z.array(z.string()),
    input: EnabledEvents,
    isList: true,
    required: true,
    shown: 'answer',
  },
  description: {
    sql: 'text',
    shape: Description.nullable(),
    input: Description,
    create: Description.nullable().default(null),
    unset: null,
    shown: 'answer',
  },
  standard_signature: {
    sql: 'boolean',
    shape: z.boolean(),
    input: z.boolean(),
    create: z.boolean().default(false),
    initial: false,
    shown: 'answer',
  },
  created_at: { sql: 'timestamptz', shape: Timestamp, shown: 'answer' },
  updated_at: { sql: 'timestamptz', shape: Timestamp, shown: 'answer' },
})

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
export const Endpoint = namedObject('WebhookEndpoint', ENDPOINT.shapes.answer, EXAMPLE)

/** The answer when an endpoint is created or its secret rotated: the only answers with the secret. */
export const EndpointWithSecret = namedObject(
  'WebhookEndpointWithSecret',
  { ...ENDPOINT.shapes.answer, secret: z.string() },
  { ...EXAMPLE, secret: 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw' },
)

export type EndpointRecord = RecordOf<typeof ENDPOINT>

/** A new endpoint with the members of a request. */
export const newEndpoint = (
  id: string,
  sent: Pick<EndpointRecord, 'url'> & { readonly enabled_events: string[] },
  now: Date,
): EndpointRecord =>
  ENDPOINT.changed(
    { ...ENDPOINT.initial, id, url: sent.url, enabledEvents: sent.enabled_events, createdAt: now, updatedAt: now },
    sent,
  )

/** The columns of an EndpointRecord. */
export const endpointColumns = (tx: Transaction) => tx`${tx.unsafe(ENDPOINT.sql.selected)}`

/** An endpoint as a row with the members of `ENDPOINT`. */
export const endpointRow = (tx: Transaction, endpoint: EndpointRecord) => tx`
  json_to_recordset(${JSON.stringify([endpoint])}::text::json) as row (${tx.unsafe(ENDPOINT.sql.row)})`

export const noSuchEndpoint = (id: string): ApiError => notFound(['id'], `this workspace has no webhook endpoint ${id}`)

/** Reads an endpoint. Throws `not_found`. */
export async function readEndpoint(tx: Transaction, id: string, locking = tx``): Promise<EndpointRecord> {
  const [row] = await tx<EndpointRecord[]>`
    select ${endpointColumns(tx)} from endpoint where workspace_id = ${tx.context.workspaceId} and id = ${id} ${locking}`
  if (row === undefined) throw noSuchEndpoint(id)
  return row
}

/** Locks an endpoint for the rest of the transaction and returns it as it is then. Throws `not_found`. */
export const lockEndpoint = (tx: Transaction, id: string) => readEndpoint(tx, id, tx`for no key update`)

/** Makes every process read the workspace's endpoints again, in the transaction that changes them. */
export async function endpointsChanged(tx: Transaction): Promise<void> {
  const { workspaceId, livemode } = tx.context
  await tx`
    insert into endpoint_set as known (workspace_id, version, livemode) values (${workspaceId}, 1, ${livemode})
    on conflict (workspace_id) do update set version = known.version + 1, livemode = excluded.livemode`
}
