import { setTimeout as pause } from 'node:timers/promises'
import { Pool } from 'undici'
import type { Api } from './api.ts'
import { closedLoop, openLoop, percentile } from './load.ts'
import { aProduct } from './products.ts'
import { startReceiver } from './receiver.ts'
import type { Row } from './table.ts'

type Receiver = Awaited<ReturnType<typeof startReceiver>>

const subscribe = (api: Api, url: string) => api.post('/v1/webhooks', { url, enabled_events: ['product.created'] })

async function waitForArrivals(receiver: Receiver, count: number): Promise<void> {
  const deadline = performance.now() + 60_000
  while (receiver.arrivals.length < count) {
    if (performance.now() > deadline) throw new Error(`${receiver.arrivals.length} of ${count} deliveries came in 60 s`)
    await pause(5)
  }
}

/** From the answer to a create until its webhook has been received, at a moderate rate. */
export async function measureWebhookLatency(api: Api): Promise<Row> {
  const [warmUp, count, rate] = [200, 1000, 50]
  const receiver = await startReceiver()
  await subscribe(api, receiver.url)
  await openLoop(warmUp, rate, () => api.post('/v1/products', aProduct(3)))
  await waitForArrivals(receiver, warmUp)
  receiver.arrivals.length = 0
  const answeredAt = new Map<string, number>()
  await openLoop(count, rate, async () => {
    const { id } = await api.post<{ id: string }>('/v1/products', aProduct(3))
    answeredAt.set(id, performance.now())
  })
  await waitForArrivals(receiver, count)
  receiver.stop()
  const latencies = receiver.arrivals.map(
    ({ at, body }) => at - (answeredAt.get(JSON.parse(body).data.id) ?? Number.NaN),
  )
  return {
    name: `create answered → webhook received, ${rate} products/s`,
    measured: `p50 ${percentile(latencies, 0.5).toFixed(1)} ms, p99 ${percentile(latencies, 0.99).toFixed(1)} ms`,
    bound: 'p50 ≤ 30 ms, p99 ≤ 150 ms',
  }
}

/** Deliveries per second when many are due at once, beside the same bodies POSTed raw to the same receiver. */
export async function measureWebhookBurst(api: Api): Promise<Row> {
  const [endpoints, products] = [20, 250]
  const receiver = await startReceiver()
  for (let index = 0; index < endpoints; index++) await subscribe(api, `${receiver.url}${index}`)
  await closedLoop(products, 16, () => api.post('/v1/products', aProduct(3)))
  await waitForArrivals(receiver, endpoints * products)
  const arrivals = receiver.arrivals.splice(0)
  const [first, last] = [arrivals[0]?.at ?? 0, arrivals.at(-1)?.at ?? 0]
  const delivered = (arrivals.length * 1000) / (last - first)

  const pool = new Pool(new URL(receiver.url).origin, { connections: 64 })
  const raw = await closedLoop(arrivals.length, 64, async (index) => {
    const response = await pool.request({ method: 'POST', path: '/', body: arrivals[index]?.body ?? '' })
    await response.body.dump()
  })
  await pool.close()
  receiver.stop()
  return {
    name: `deliveries in a burst, ${products} products × ${endpoints} endpoints, creates included`,
    measured: `${delivered.toFixed(0)}/s`,
    floor: `${raw.perSecond.toFixed(0)}/s POSTs`,
    ratio: delivered / raw.perSecond,
    bound: 'no bound yet',
  }
}
