import { setTimeout as pause } from 'node:timers/promises'
import { deliverySql, type Subscription, type WebhookPlace } from './subscribe.ts'

/** Blocks the fan-out, so that events wait in Kafka. Returns the function that ends the block. */
export async function holdFanOut(place: WebhookPlace): Promise<() => Promise<void>> {
  const sql = deliverySql(place)
  const held = await sql.reserve()
  await held`begin`
  await held`lock table event in exclusive mode`
  return async () => {
    await held`commit`
    held.release()
    await sql.end()
  }
}

/**
 * Suspends the workspaces, so that their deliveries wait in the table. Returns the function that resumes them once so
 * many wait.
 */
export async function holdDeliveries(place: WebhookPlace, { workspaceIds }: Subscription) {
  const sql = deliverySql(place)
  const ids = [...workspaceIds]
  const save = (isResumed: boolean) =>
    sql.begin(async (tx) => {
      await tx`
        insert into suspended_workspace as known (workspace_id, changed_at, resumed_at)
        select id, now(), case when ${isResumed} then now() end from unnest(${ids}::uuid[]) as id
        on conflict (workspace_id) do update set resumed_at = excluded.resumed_at`
      await tx`update endpoint_set set version = version + 1 where workspace_id = any(${ids}::uuid[])`
    })
  const waiting = () => sql<[{ count: number }]>`
    select count(*)::integer from delivery where workspace_id = any(${ids}::uuid[]) and due_at is not null`
  await save(false)
  return async (deliveries: number) => {
    while ((await waiting())[0].count < deliveries) await pause(500)
    await save(true)
    await sql.end()
  }
}
