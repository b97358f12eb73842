import { randomUUID } from 'node:crypto'
import { setTimeout as pause } from 'node:timers/promises'
import type { Product } from '@backoffice/contracts/product.ts'
import { aProduct } from '../products.ts'
import type { Attack, AttackPlace } from './attack.ts'
import { startSlowReceiver } from './slow-receiver.ts'

const EVENTS = 2400
const ENDPOINTS = 50
const STATES = 100_000
const LOOK_EVERY_MS = 100

/** Publishes 2,400 events to 50 endpoints, and again whenever no event waits for its deliveries to be made. */
export const publishToManyEndpoints: Attack = async (place) => {
  const { attacker, sql } = place
  const receiver = await startSlowReceiver()
  const ids: string[] = []
  while (ids.length < ENDPOINTS) {
    const endpoint = { url: `${receiver.url}/${randomUUID()}`, enabled_events: ['*'] }
    ids.push((await attacker.change<{ id: string }>('POST', '/v1/webhooks', endpoint)).id)
  }
  const publish = await copiesOf(place, 'product.created')
  const stop = await keepWaiting(
    () => sql`
      select from catalog.outbox where workspace_id = ${attacker.id} and published_at is null
      union all
      (select from webhook_delivery.fan_out_backlog where workspace_id = ${attacker.id} limit 1)`,
    () => publish(EVENTS),
  )
  return async () => {
    await stop()
    await dropWaiting(place)
    for (const id of ids) await attacker.change('DELETE', `/v1/webhooks/${id}`)
    receiver.stop()
  }
}

/** Fills the outbox with as many states as an import of 100,000 rows, and again whenever all are published. */
export const publishManyStates: Attack = async (place) => {
  const { attacker, sql } = place
  const publish = await copiesOf(place, 'product.state')
  const stop = await keepWaiting(
    () => sql`select from catalog.outbox where workspace_id = ${attacker.id} and published_at is null limit 1`,
    () => publish(STATES),
  )
  return async () => {
    await stop()
    await dropWaiting(place)
  }
}

/** Fills a queue, and again whenever nothing of the attacker waits in it, so that the attack does not end by itself. */
async function keepWaiting(waiting: () => Promise<readonly unknown[]>, fill: () => Promise<void>) {
  await fill()
  let isOver = false
  const filling = (async () => {
    while (!isOver) {
      if ((await waiting()).length === 0) await fill()
      await pause(LOOK_EVERY_MS)
    }
  })()
  return () => {
    isOver = true
    return filling
  }
}

/** Creates a product; the returned function inserts copies of its record into catalog's outbox, as other products. */
async function copiesOf({ attacker, sql }: AttackPlace, type: string) {
  const { id } = await attacker.change<Product>('POST', '/v1/products', aProduct())
  const [record] = await sql`
    select topic, type, workspace_id, livemode, payload::text, traceparent from catalog.outbox
    where workspace_id = ${attacker.id} and type = ${type} and key = ${id}`
  if (record === undefined) throw new Error(`no ${type} of the product`)
  return async (count: number) => {
    const { topic, type, workspace_id, livemode, payload, traceparent } = record
    await sql`
      insert into catalog.outbox (event_id, topic, key, type, workspace_id, livemode, payload, traceparent, occurred_at)
      select uuidv7(), ${topic}, copy.id, ${type}, ${workspace_id}, ${livemode}, replace(${payload}, ${id}, copy.id)::json,
        ${traceparent}, now()
      from (select uuidv7()::text as id from generate_series(1, ${count}::integer)) as copy`
    await sql`select pg_notify('outbox_catalog', '')`
  }
}

/** Deletes the waiting rows of the attacker, which would slow down the next test. */
async function dropWaiting({ attacker, sql }: AttackPlace): Promise<void> {
  await sql`delete from catalog.outbox where workspace_id = ${attacker.id} and published_at is null`
}
