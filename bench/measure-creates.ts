import type { Api } from './api.ts'
import { closedLoop } from './load.ts'
import { aProduct } from './products.ts'
import { rawSender, recordCreates } from './raw-sql.ts'
import type { Row } from './table.ts'

const CONCURRENCY = 16

/** Product creates per second through the gateway, beside the same SQL sent directly at the same concurrency. */
export async function measureCreates(api: Api, catalogUrl: string, variants: number, count: number): Promise<Row[]> {
  const bodies = Array.from({ length: count + 1 }, () => aProduct(variants))
  await closedLoop(Math.ceil(count / 4), CONCURRENCY, () => api.post('/v1/products', aProduct(variants)))
  const load = await closedLoop(count, CONCURRENCY, () => api.post('/v1/products', aProduct(variants)))

  const recorded = await recordCreates(catalogUrl, bodies)
  const raw = rawSender(catalogUrl, CONCURRENCY)
  const floor = await closedLoop(recorded.length, CONCURRENCY, (index) => raw.send(recorded[index] ?? []))
  await raw.stop()

  const name = variants === 0 ? 'SIMPLE' : `VARIABLE, ${variants} variants`
  return [
    {
      name: `create ${name}, ${CONCURRENCY} at a time`,
      measured: `${load.perSecond.toFixed(0)}/s, p50 ${load.p50.toFixed(1)} ms, p99 ${load.p99.toFixed(1)} ms`,
      floor: `${floor.perSecond.toFixed(0)}/s`,
      ratio: load.perSecond / floor.perSecond,
      bound: variants === 3 ? 'ratio ≥ 0.4; ≥ 400/s' : 'ratio ≥ 0.4',
    },
    {
      name: `SQL statements per create, ${name}`,
      measured: String(Math.max(...recorded.map((transaction) => transaction.length))),
      bound: '≤ 10',
    },
  ]
}
