import { listDeliveries } from '../services/webhook-delivery/src/history/list-deliveries.ts'
import type { Api } from './api.ts'
import { listLatency } from './list-latency.ts'
import { addEndpoints, DELIVERIES_OF_THE_FIRST, seedDeliveries } from './seed-deliveries.ts'
import type { Row } from './table.ts'

interface Place {
  readonly api: Api
  readonly workspaceId: string
  /** Connects as webhook-delivery. */
  readonly databaseUrl: string
  /** Connects as a superuser. */
  readonly postgresUrl: string
}

/** Measures lists of an endpoint with a million deliveries, one at a time, in a workspace with five million. */
export async function measureDeliveryList({ postgresUrl, ...place }: Place): Promise<Row[]> {
  const endpointIds = await addEndpoints(place.api)
  const id = endpointIds[0] ?? ''
  const since = await seedDeliveries(postgresUrl, place.workspaceId, endpointIds)
  const path = `/v1/webhooks/${id}/deliveries`
  const page = async (query: string) =>
    (await place.api.get<{ items: { event_id: string }[] }>(`${path}?${query}`)).items
  const middle = DELIVERIES_OF_THE_FIRST / 40
  const [anyDelivery] = await page(`page=${middle}`)
  const rows: Row[] = []
  for (const [what, query] of [
    ['page 1', ''],
    [`page ${middle}`, `page=${middle}`],
    ['last page', `page=${DELIVERIES_OF_THE_FIRST / 20}`],
    ['status FAILED', 'status=FAILED'],
    ['status FAILED, page 2000', 'status=FAILED&page=2000'],
    ['status PENDING', 'status=PENDING'],
    ['status PENDING, page 500', 'status=PENDING&page=500'],
    ['event_type, 50 %', 'event_type=product.updated'],
    ['event_type, 1 %', 'event_type=product.deleted'],
    ['event_type, 1 %, page 250', 'event_type=product.deleted&page=250'],
    ['event_id', `event_id=${anyDelivery?.event_id}`],
    ['since, 10 %', `since=${since(0.1)}`],
    ['since, 90 %, page 20000', `since=${since(0.9)}&page=20000`],
    ['since and until, 1 %', `since=${since(0.51)}&until=${since(0.5)}`],
    ['since, 50 %, status FAILED', `since=${since(0.5)}&status=FAILED`],
  ] as const) {
    const latency = await listLatency({ ...place, operation: listDeliveries, path, params: { id }, query })
    rows.push({
      name: `list of ${DELIVERIES_OF_THE_FIRST.toLocaleString('en')} deliveries: ${what}`,
      ...latency,
      bound: 'p99 ≤ 50 ms',
    })
  }
  for (const id of endpointIds) await place.api.delete(`/v1/webhooks/${id}`)
  return rows
}
