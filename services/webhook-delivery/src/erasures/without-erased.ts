import type { AnySql } from '@backoffice/postgres/database.ts'
import { validate } from 'uuid'
import { redactData, subjectOf } from './redact-body.ts'

interface Event {
  readonly value: {
    readonly workspace_id: string
    readonly type: string
    readonly occurred_at: string
    readonly data?: unknown
  }
}

/**
 * The events without the personal data of erased customers (OP-139), in their order: a replay can bring an event of
 * long before an erasure. One statement where an event has personal data, otherwise none.
 */
export async function withoutErased<One extends Event>(tx: AnySql, incoming: readonly One[]): Promise<readonly One[]> {
  const personal = personalOf(incoming)
  if (personal.length === 0) return incoming
  const erased = new Set((await erasedOf(tx, personal)).map(({ place }) => personal[place - 1]?.event))
  if (erased.size === 0) return incoming
  return incoming.map((event) => {
    if (!erased.has(event)) return event
    const { type, data } = event.value
    return { ...event, value: { ...event.value, data: redactData(type, data) } }
  })
}

interface Personal<One extends Event = Event> {
  readonly event: One
  readonly subject: string
}

/** The events with personal data, and by whose erasure they lose it. */
export const personalOf = <One extends Event>(incoming: readonly One[]): Personal<One>[] =>
  incoming.flatMap((event) => {
    const subject = subjectOf(event.value.type, event.value.data)
    return subject !== undefined && validate(subject) ? [{ event, subject }] : []
  })

/** The places, from 1 on, of those whose customer is erased, or whose order was erased since. */
export const erasedOf = (sql: AnySql, personal: readonly Personal[]) => sql<{ place: number }[]>`
  select place::integer as place
  from unnest(
    ${personal.map(({ event }) => event.value.workspace_id)}::uuid[], ${personal.map(({ subject }) => subject)}::uuid[],
    ${personal.map(({ event }) => event.value.occurred_at)}::timestamptz[]
  ) with ordinality as personal (workspace_id, subject, occurred_at, place)
  where exists (
      select from erasure where erasure.workspace_id = personal.workspace_id and customer_id = subject
    ) or exists (
      select from erased_order
      where erased_order.workspace_id = personal.workspace_id and order_id = subject and last_change >= occurred_at
    )`
