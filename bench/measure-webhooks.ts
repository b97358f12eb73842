import type { Api } from './api.ts'
import { openLoop, percentile } from './load.ts'
import { aProduct } from './products.ts'
import { sharedNow, startReceiver } from './receiver.ts'
import type { Row } from './table.ts'

/** The time from the answer to a create until its webhook arrives, at a moderate rate. */
export async function measureWebhookLatency(api: Api): Promise<Row> {
  const [warmUp, count, rate] = [200, 1000, 50]
  const receiver = await startReceiver()
  await api.post('/v1/webhooks', { url: receiver.url(0), enabled_events: ['product.created'] })
  await receiver.begin()
  await openLoop(warmUp, rate, () => api.post('/v1/products', aProduct(3)))
  await receiver.until(warmUp)
  await receiver.begin(true)
  const answeredAt = new Map<string, number>()
  await openLoop(count, rate, async () => {
    const { id } = await api.post<{ id: string }>('/v1/products', aProduct(3))
    answeredAt.set(id, sharedNow())
  })
  await receiver.until(count)
  const arrivals = await receiver.arrivals()
  receiver.stop()
  const latencies = arrivals.map(({ at, resource }) => at - (answeredAt.get(resource) ?? Number.NaN))
  return {
    name: `create answered → webhook received, ${rate} products/s`,
    measured: `p50 ${percentile(latencies, 0.5).toFixed(1)} ms, p99 ${percentile(latencies, 0.99).toFixed(1)} ms`,
    bound: 'p50 ≤ 30 ms, p99 ≤ 150 ms',
  }
}
