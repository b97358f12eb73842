import type { AnySql } from '@backoffice/postgres/database.ts'
import { validate } from 'uuid'
import { customerOf, redactData } from './redact-body.ts'

interface Event {
  readonly value: { readonly workspace_id: string; readonly type: string; readonly data?: unknown }
}

/**
 * The events without the personal data of erased customers (OP-139), in their order: a replay can bring an event of
 * long before an erasure. One statement where an event is about a customer, otherwise none.
 */
export async function withoutErased<One extends Event>(tx: AnySql, incoming: readonly One[]): Promise<readonly One[]> {
  const personal = personalOf(incoming)
  if (personal.length === 0) return incoming
  const erased = await erasedOf(tx, personal)
  if (erased.length === 0) return incoming
  const keys = new Set(erased.map(({ workspaceId, customerId }) => `${workspaceId} ${customerId}`))
  return incoming.map((event) => {
    const { workspace_id: workspaceId, type, data } = event.value
    if (!keys.has(`${workspaceId} ${customerOf(type, data)}`)) return event
    return { ...event, value: { ...event.value, data: redactData(type, data) } }
  })
}

interface Personal {
  readonly workspaceId: string
  readonly customerId: string
}

/** The customers that some events have personal data of. */
export const personalOf = (incoming: readonly Event[]): Personal[] =>
  incoming.flatMap(({ value: { workspace_id: workspaceId, type, data } }) => {
    const customerId = customerOf(type, data)
    return customerId !== undefined && validate(customerId) ? [{ workspaceId, customerId }] : []
  })

/** Those of some customers that are erased. */
export const erasedOf = (sql: AnySql, personal: readonly Personal[]) => sql<Personal[]>`
  select workspace_id as "workspaceId", customer_id as "customerId" from erasure
  where (workspace_id, customer_id) in (
    select * from unnest(
      ${personal.map(({ workspaceId }) => workspaceId)}::uuid[], ${personal.map(({ customerId }) => customerId)}::uuid[]
    )
  )`
