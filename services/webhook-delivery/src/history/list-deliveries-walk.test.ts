import type { Caller } from '@backoffice/http/internal-token.ts'
import { aCaller } from '@backoffice/testing/caller.ts'
import { describeWalks } from '@backoffice/testing/list-walk.ts'
import { v7 as uuidv7 } from 'uuid'
import { webhookDelivery } from '../testing/webhooks-api.ts'

const { admin, send, createEndpointAt } = await webhookDelivery()
const HOUR_MS = 3_600_000
const receiver = 'https://receiver.example/'

/** Inserts a delivery of these hours ago. */
async function insert({ workspaceId }: Caller, endpoint: string, hours: number, type = 'tag.created'): Promise<string> {
  const id = uuidv7({ msecs: Date.now() - hours * HOUR_MS })
  await admin`
    insert into delivery (workspace_id, endpoint_id, id, event_id, event_type, status, created_at)
    values (${workspaceId}, ${endpoint}, ${id}, uuidv7(), ${type}, 'DELIVERED', uuid_extract_timestamp(${id}))`
  return id
}

describeWalks('deliveries', {
  send,
  async list() {
    const [caller, other] = [aCaller(), aCaller()]
    const [{ id }, foreign] = [await createEndpointAt(caller, receiver), await createEndpointAt(other, receiver)]
    for (let n = 0; n < 30; n++) await insert(caller, id, (n * n) % 60, n % 5 === 0 ? 'product.created' : undefined)
    return {
      caller,
      path: `/v1/webhooks/${id}/deliveries`,
      foreign: await insert(other, foreign.id, 1),
      insert: () => insert(caller, id, 0),
      change: (delivery) => admin`update delivery set status = 'FAILED' where id = ${delivery}`,
    }
  },
  filters: [
    '',
    'status=DELIVERED',
    'event_type=product.created',
    `since=${new Date(Date.now() - 20 * HOUR_MS).toISOString()}`,
    `until=${new Date(Date.now() - 20 * HOUR_MS).toISOString()}&status=DELIVERED`,
  ],
})
