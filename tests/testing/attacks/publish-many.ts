import { randomUUID } from 'node:crypto'
import type { Product } from '@backoffice/contracts/product.ts'
import { aProduct } from '../products.ts'
import type { Attack, AttackPlace } from './attack.ts'
import { startSlowReceiver } from './slow-receiver.ts'

const EVENTS = 2400
const ENDPOINTS = 50
const STATES = 100_000

/** Publishes 2,400 events to 50 endpoints. */
export const publishToManyEndpoints: Attack = async (place) => {
  const { attacker } = place
  const receiver = await startSlowReceiver()
  const ids: string[] = []
  while (ids.length < ENDPOINTS) {
    const endpoint = { url: `${receiver.url}/${randomUUID()}`, enabled_events: ['*'] }
    ids.push((await attacker.change<{ id: string }>('POST', '/v1/webhooks', endpoint)).id)
  }
  await publishCopies(place, 'product.created', EVENTS)
  return async () => {
    await dropWaiting(place)
    for (const id of ids) await attacker.change('DELETE', `/v1/webhooks/${id}`)
    receiver.stop()
  }
}

/** Has as many states to publish as an import of many rows. */
export const publishManyStates: Attack = async (place) => {
  await publishCopies(place, 'product.state', STATES)
  return () => dropWaiting(place)
}

/** Inserts copies of a product's record into catalog's outbox. Each is of another product. */
async function publishCopies({ attacker, sql }: AttackPlace, type: string, count: number): Promise<void> {
  const { id } = await attacker.change<Product>('POST', '/v1/products', aProduct())
  await sql`
    insert into catalog.outbox (event_id, topic, key, type, workspace_id, livemode, payload, traceparent, occurred_at)
    select uuidv7(), topic, copy.id, type, workspace_id, livemode, replace(payload::text, ${id}, copy.id)::json, traceparent, now()
    from catalog.outbox, lateral (select uuidv7()::text as id from generate_series(1, ${count}::integer)) as copy
    where workspace_id = ${attacker.id} and type = ${type} and key = ${id}`
  await sql`select pg_notify('outbox_catalog', '')`
}

/** What waits still would be felt in what comes after. */
async function dropWaiting({ attacker, sql }: AttackPlace): Promise<void> {
  await sql`delete from catalog.outbox where workspace_id = ${attacker.id} and published_at is null`
}
