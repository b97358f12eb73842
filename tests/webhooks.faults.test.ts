import { setTimeout as pause } from 'node:timers/promises'
import type { Product } from '@backoffice/contracts/product.ts'
import { eventually } from '@backoffice/testing/eventually.ts'
import { randomFrom } from '@backoffice/testing/random.ts'
import { expect, it } from 'vitest'
import { startLoad } from './testing/platform-load.ts'
import { aProduct } from './testing/products.ts'
import { startReplica } from './testing/replica.ts'
import { expectArrivals, reconciled, untilDelivered } from './testing/webhook-proof.ts'
import {
  type EndpointReceiver,
  MISBEHAVIOURS,
  startEndpointReceiver,
  startFlappingReceiver,
} from './testing/webhook-receivers.ts'
import { startWebhookStack } from './testing/webhook-stack.ts'

const { kafka, database, stack, sql, producer, subscribed } = await startWebhookStack()

/** Two of each process. */
const KILLS = 8
/** The longest time between the first event after a kill and the next kill. */
const WITHIN_MS = 1200
const OUTAGE_MS = 20_000
const RECOVERY_MS = 60_000

const healthyOnes = (count: number) => Promise.all(Array.from({ length: count }, () => startEndpointReceiver()))

/** Waits until an event published from now on arrives. */
const untilFresh = async ({ arrivals }: EndpointReceiver, events: readonly string[]) => {
  const from = events.length
  await eventually('a fresh event arrives', () => events.slice(from).some((id) => arrivals.has(id)), 60_000)
}

/** The number of delivered deliveries of an endpoint, or only of those with this number of attempts. */
async function deliveredAt(workspaceId: string, url: string, attempts: number | null = null): Promise<number> {
  const [row] = await sql<{ count: number }[]>`
    select count(*)::integer from webhook_delivery.delivery
    join webhook_delivery.endpoint on endpoint.workspace_id = delivery.workspace_id and endpoint.id = endpoint_id
    where delivery.workspace_id = ${workspaceId} and url = ${url} and status = 'DELIVERED'
      and attempts_made = coalesce(${attempts}::integer, attempts_made)`
  return row?.count ?? 0
}

it('delivers what came twice once, and the neighbours of what nobody can read', async () => {
  const receivers = await healthyOnes(2)
  const { id, since } = await subscribed(receivers)
  const load = startLoad(producer, id, 100)
  await eventually('some poison', () => load.poison >= 3)
  await load.stop()
  await untilDelivered(sql, id, { events: load.events, endpoints: receivers.length })
  expect(expectArrivals(receivers, load.events)).toBe(0)
  const proof = await reconciled(stack, since)
  expect(proof).toContain(`events: ${load.events.length}, dead letters: ${load.poison}, `)
})

it(`loses nothing when its processes are killed ${KILLS} times under load, and sends again only what was in flight`, async () => {
  const seed = Number(process.env.SEED ?? Math.floor(Math.random() * 1e9))
  console.log(`SEED=${seed} kills at the same points`)
  const random = randomFrom(seed)
  const receivers = await healthyOnes(3)
  const [first] = receivers as [EndpointReceiver]
  const { id, since } = await subscribed(receivers)
  const replicas = await Promise.all([
    startReplica(stack, 'webhook-delivery'),
    startReplica(stack, 'webhook-delivery'),
    startReplica(stack, 'webhook-delivery'),
  ])
  const load = startLoad(producer, id, 100)
  const kills: number[] = []
  const restartings = [
    async () => {
      const { pid } = stack.description().services['webhook-delivery'] ?? {}
      stack.kill('webhook-delivery')
      await eventually(
        'the stack has started it again',
        () => stack.description().services['webhook-delivery']?.pid !== pid,
      )
    },
    ...replicas.map((replica) => async () => {
      await replica.kill()
      await replica.start()
    }),
  ]
  while (kills.length < KILLS) {
    await untilFresh(first, load.events)
    await Promise.all(
      restartings.map(async (restart) => {
        await pause(random() * WITHIN_MS)
        kills.push(performance.now())
        await restart()
      }),
    )
  }
  await load.stop()
  await untilDelivered(sql, id, { events: load.events, endpoints: receivers.length })
  const repeated = expectArrivals(receivers, load.events, kills)
  console.log(`${load.events.length} events to ${receivers.length} endpoints, ${repeated} deliveries arrived again`)
  await reconciled(stack, since, ['--workspace', id])
}, 240_000)

it('goes on with what a replica had when it was killed', async () => {
  const receivers = await healthyOnes(2)
  const { id, since } = await subscribed(receivers)
  const replica = await startReplica(stack, 'webhook-delivery')
  const load = startLoad(producer, id, 100)
  await eventually('there is load', () => load.events.length > 200)
  const kills = [performance.now()]
  await replica.kill()
  await eventually('the load goes on', () => load.events.length > 400)
  await load.stop()
  await untilDelivered(sql, id, { events: load.events, endpoints: receivers.length })
  expectArrivals(receivers, load.events, kills)
  await reconciled(stack, since, ['--workspace', id])
})

it('goes on where it was when PostgreSQL is restarted under load', async () => {
  const receivers = await healthyOnes(2)
  const { id, since } = await subscribed(receivers)
  const load = startLoad(producer, id, 100)
  await eventually('there is load', () => load.events.length > 200)
  await database.stop()
  const before = load.events.length
  await eventually('the load goes on', () => load.events.length > before + 100)
  await database.start()
  await eventually('the load goes on', () => load.events.length > before + 300)
  await load.stop()
  const expected = { events: load.events, endpoints: receivers.length }
  await untilDelivered(sql, id, expected, RECOVERY_MS)
  expect(expectArrivals(receivers, load.events)).toBe(0)
  await reconciled(stack, since, ['--workspace', id])
}, 240_000)

it('keeps healthy endpoints apart from those that are not, and goes on with all of them while Kafka is away for 20 s', async () => {
  const healthy = await healthyOnes(2)
  const { hang, reset, closeEarly, answerByteByByte, sendAGigabyte } = MISBEHAVIOURS
  const unanswering = await Promise.all([hang, reset, closeEarly, answerByteByByte].map(startEndpointReceiver))
  const unhealthy = [...unanswering, await startEndpointReceiver(sendAGigabyte), await startFlappingReceiver()]
  const receivers = [...healthy, ...unhealthy]
  const { id, since, api } = await subscribed(receivers)
  const load = startLoad(producer, id, 50)
  await eventually('there is load', () => load.events.length > 300)
  await load.stop()
  await eventually('the healthy have all, at the first attempt', async () => {
    const counts = await Promise.all(healthy.map(({ url }) => deliveredAt(id, url, 1)))
    return counts.every((count) => count === load.events.length)
  })
  expect(expectArrivals(healthy, load.events)).toBe(0)
  for (const receiver of unanswering) expect(await deliveredAt(id, receiver.url)).toBe(0)
  await reconciled(stack, since, ['--workspace', id, '--overdue', '1'])

  const killedAt = performance.now()
  await kafka.kill()
  const products: string[] = []
  const isAway = () => performance.now() < killedAt + OUTAGE_MS
  const creating = (async () => {
    while (isAway()) {
      const { status, body } = await api<Product>('POST', '/v1/products', aProduct())
      expect(status).toBe(201)
      products.push(body.id)
      await pause(200)
    }
  })()
  await pause(OUTAGE_MS / 2)
  for (const receiver of unhealthy) receiver.recover()
  await untilDelivered(sql, id, { events: load.events, endpoints: receivers.length })
  await creating
  await kafka.start()
  const announced = await eventually('every product is announced', async () => {
    const rows = await sql<{ id: string; product: string }[]>`
      select id, body::json -> 'data' ->> 'id' as product from webhook_delivery.event
      where workspace_id = ${id} and type = 'product.created'`
    return rows.length >= products.length && rows
  })
  expect(announced.map(({ product }) => product).sort()).toEqual([...products].sort())
  const events = [...load.events, ...announced.map((event) => event.id)]
  await untilDelivered(sql, id, { events, endpoints: receivers.length })
  expect(expectArrivals(healthy, events)).toBe(0)
  await reconciled(stack, since, ['--workspace', id])
}, 240_000)
