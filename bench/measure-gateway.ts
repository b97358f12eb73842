import type { Api } from './api.ts'
import { closedLoop } from './load.ts'
import { aProduct } from './products.ts'
import type { Row } from './table.ts'

/** The time that the gateway adds to a request: the same read through the gateway and from the service, one at a time. */
export async function measureGateway(api: Api, direct: Api): Promise<Row> {
  const { id } = await api.post<{ id: string }>('/v1/products', aProduct(3))
  const read = (client: Api) => closedLoop(1500, 1, () => client.get(`/v1/products/${id}`))
  await read(api)
  await read(direct)
  const through = await read(api)
  const straight = await read(direct)
  return {
    name: 'gateway adds to a read, one at a time, p50',
    measured: `${(through.p50 - straight.p50).toFixed(2)} ms (${through.p50.toFixed(2)} ms)`,
    floor: `${straight.p50.toFixed(2)} ms`,
    ratio: through.p50 / straight.p50,
    bound: '≤ 1.5 ms',
  }
}
