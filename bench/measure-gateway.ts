import type { Api } from './api.ts'
import { closedLoop } from './load.ts'
import { aProduct } from './products.ts'
import type { Row } from './table.ts'

/** As many as the connections of a client. */
const CONCURRENCY = 64

/** A small read through the gateway and from the service: the time that it adds, and the rate that it leaves. */
export async function measureGateway(api: Api, direct: Api): Promise<Row[]> {
  const { id } = await api.post<{ id: string }>('/v1/products', aProduct(3))
  const read = (client: Api, count: number, concurrency: number) =>
    closedLoop(count, concurrency, () => client.get(`/v1/products/${id}`))
  const readBoth = async (count: number, concurrency: number) => {
    for (const client of [api, direct]) await read(client, count / 4, concurrency)
    return { through: await read(api, count, concurrency), straight: await read(direct, count, concurrency) }
  }
  const one = await readBoth(1500, 1)
  const many = await readBoth(4000, CONCURRENCY)
  return [
    {
      name: 'gateway adds to a read, one at a time, p50',
      measured: `${(one.through.p50 - one.straight.p50).toFixed(2)} ms (${one.through.p50.toFixed(2)} ms)`,
      floor: `${one.straight.p50.toFixed(2)} ms`,
      ratio: one.through.p50 / one.straight.p50,
      bound: '≤ 1.5 ms',
    },
    {
      name: `small reads through the gateway, ${CONCURRENCY} at a time`,
      measured: `${Math.round(many.through.perSecond)} /s (p99 ${many.through.p99.toFixed(0)} ms)`,
      floor: `${Math.round(many.straight.perSecond)} /s`,
      ratio: many.through.perSecond / many.straight.perSecond,
      bound: '≥ 0.5 × the service',
    },
  ]
}
