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
  const personal = incoming.flatMap(({ value: { workspace_id: workspaceId, type, data } }) => {
    const customerId = customerOf(type, data)
    return customerId !== undefined && validate(customerId) ? [{ workspaceId, customerId }] : []
  })
  if (personal.length === 0) return incoming
  const erased = await tx<{ workspaceId: string; customerId: string }[]>`
    select workspace_id as "workspaceId", customer_id as "customerId" from erasure
    where (workspace_id, customer_id) in (
      select * from unnest(
        ${personal.map(({ workspaceId }) => workspaceId)}::uuid[], ${personal.map(({ customerId }) => customerId)}::uuid[]
      )
    )`
  if (erased.length === 0) return incoming
  const keys = new Set(erased.map(({ workspaceId, customerId }) => `${workspaceId} ${customerId}`))
  return incoming.map((event) => {
    const { workspace_id: workspaceId, type, data } = event.value
    if (!keys.has(`${workspaceId} ${customerOf(type, data)}`)) return event
    return { ...event, value: { ...event.value, data: redactData(type, data) } }
  })
}
