import { aCaller } from '@backoffice/testing/caller.ts'
import { eventually } from '@backoffice/testing/eventually.ts'
import { startReceiver } from '@backoffice/testing/receiver.ts'
import { test } from 'vitest'
import { anEvent, webhookDelivery } from '../testing/webhooks-api.ts'

const { admin, createEndpointAt, startReplica } = await webhookDelivery()
const receiver = await startReceiver()
// What hangs does so until the test is over.
const { publish } = await startReplica({ timeoutMs: 600_000 })

const receivedAt = (path: string) => receiver.requests.filter((request) => request.path === path)

/** Lets a retry of an event of its own, with such a body, be due for each endpoint. */
const dueRetries = (endpointIds: readonly string[], body: string) => admin`
  with planned as (
    select workspace_id, id as endpoint_id, uuidv7() as event_id from endpoint where id = any(${endpointIds}::uuid[])
  ), stored as (
    insert into event (workspace_id, id, type, key, body, occurred_at)
    select workspace_id, event_id, 'product.created', event_id::text, ${body}, now() from planned
  )
  insert into delivery
    (workspace_id, endpoint_id, id, event_id, event_type, attempts_made, next_attempt_at, created_at)
  select workspace_id, endpoint_id, uuidv7(), event_id, 'product.created', 1, now(), now() from planned`

test.each([
  ['one event', 'fresh'],
  ['retries of events', 'retries'],
])('%s with large bodies to endpoints that hang delay no retry of another workspace', async (_, kind) => {
  const [hanging, other] = [aCaller(), aCaller()]
  receiver.answerWith((response, { path }) => {
    if (!path.startsWith('/large')) response.writeHead(204).end()
  })
  const endpointIds: string[] = []
  for (let index = 0; index < 21; index++)
    endpointIds.push((await createEndpointAt(hanging, `${receiver.url}/large-${kind}`)).id)
  const retried = await createEndpointAt(other, `${receiver.url}/beside-${kind}`)
  const large = JSON.stringify('x'.repeat(1.2 * 1024 * 1024))
  if (kind === 'fresh') await publish(anEvent(hanging, { data: { id: 'large', text: large } }))
  else await dueRetries(endpointIds, large)
  await eventually('most hang', () => receivedAt(`/large-${kind}`).length >= (kind === 'fresh' ? 20 : 5))
  await dueRetries([retried.id], '{}')
  await eventually('the retry arrives', () => receivedAt(`/beside-${kind}`).length === 1)
})
