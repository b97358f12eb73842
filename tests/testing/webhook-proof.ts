import { eventually } from '@backoffice/testing/eventually.ts'
import type postgres from 'postgres'
import { expect } from 'vitest'
import { backofficeIn } from './backoffice.ts'
import { notedWithinMs } from './noted-within.ts'
import type { TestStack } from './stack.ts'
import type { EndpointReceiver } from './webhook-receivers.ts'

/** The most attempts of one process that are in flight or not yet recorded. */
const IN_FLIGHT = 1024

interface Counts {
  deliveries: number
  delivered: number
  failed: number
}

/** Waits until each event of a workspace has one delivery to each of `endpoints` endpoints, and all are DELIVERED. */
export async function untilDelivered(
  sql: postgres.Sql,
  workspaceId: string,
  { events, endpoints }: { events: readonly string[]; endpoints: number },
  withinMs = 60_000,
): Promise<void> {
  const wanted = events.length * endpoints
  let last: Counts | undefined
  await eventually(
    'every delivery is delivered',
    async () => {
      const [counts] = await sql<Counts[]>`
        select count(*)::integer as deliveries, count(*) filter (where status = 'DELIVERED')::integer as delivered,
          count(*) filter (where status = 'FAILED')::integer as failed
        from webhook_delivery.delivery where workspace_id = ${workspaceId}`
      last = counts
      return counts?.delivered === wanted || undefined
    },
    withinMs,
  ).catch((error: Error) => {
    throw new Error(`${error.message}: ${JSON.stringify(last)} of ${wanted}`)
  })
  expect(last).toEqual({ deliveries: wanted, delivered: wanted, failed: 0 })
  const rows = await sql<{ id: string }[]>`
    select distinct event_id as id from webhook_delivery.delivery where workspace_id = ${workspaceId}`
  expect(rows.map(({ id }) => id).sort()).toEqual([...events].sort())
}

/**
 * Expects every event at every receiver. An event may arrive again only around a kill, and around one kill no more than
 * `IN_FLIGHT` events. Returns the number of repeated arrivals.
 */
export function expectArrivals(
  receivers: readonly EndpointReceiver[],
  events: readonly string[],
  kills: readonly number[] = [],
): number {
  const notedWithin = notedWithinMs()
  const repeated = new Map<number, number>()
  for (const { arrivals } of receivers) {
    expect([...arrivals.keys()].sort()).toEqual([...events].sort())
    for (const [id, times] of arrivals) {
      for (let index = 1; index < times.length; index++) {
        const [before, after] = [times[index - 1] ?? 0, times[index] ?? 0]
        const kill = kills.find((at) => at > before - notedWithin && at < after)
        if (kill === undefined) throw new Error(`${id} arrived again after ${after - before} ms, without a kill`)
        repeated.set(kill, (repeated.get(kill) ?? 0) + 1)
      }
    }
  }
  for (const count of repeated.values()) expect(count).toBeLessThanOrEqual(IN_FLIGHT)
  return [...repeated.values()].reduce((sum, count) => sum + count, 0)
}

/** Reconciles the events since then, expects no finding, and returns what the command prints. */
export function reconciled(stack: TestStack, since: Date, options: readonly string[] = []): Promise<string> {
  const range = ['--since', since.toISOString(), '--until', new Date(Date.now() + 1000).toISOString(), '--margin', '1']
  return backofficeIn(stack.directory, 'checks', 'reconcile', ...range, ...options)
}
