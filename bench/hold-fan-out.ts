import postgres from 'postgres'
import type { WebhookPlace } from './subscribe.ts'

/** Blocks the fan-out, so that events wait in Kafka. Returns the function that ends the block. */
export async function holdFanOut(place: WebhookPlace): Promise<() => Promise<void>> {
  const sql = postgres(place.description().postgres, { max: 1, connection: { search_path: 'webhook_delivery' } })
  const held = await sql.reserve()
  await held`begin`
  await held`lock table event in exclusive mode`
  return async () => {
    await held`commit`
    held.release()
    await sql.end()
  }
}
