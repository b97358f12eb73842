import type { ServerResponse } from 'node:http'
import { createLogger, type Logger } from '@backoffice/runtime/logger.ts'
import { metricsText } from '@backoffice/runtime/metrics.ts'
import { aCaller } from '@backoffice/testing/caller.ts'
import { eventually } from '@backoffice/testing/eventually.ts'
import { startReceiver } from '@backoffice/testing/receiver.ts'
import { expect, test } from 'vitest'
import { anEvent, type CreatedEndpoint, untilChangesCount, webhookDelivery } from '../testing/webhooks-api.ts'

const { admin, send, createEndpointAt, deliveriesOf, startReplica } = await webhookDelivery()
const receiver = await startReceiver()

const errors: { endpoint_id?: string }[] = []
const logger: Logger = Object.assign(createLogger('test', 'silent'), {
  error: (line: { endpoint_id?: string }) => void errors.push(line),
})
let aheadMs = 0
const replica = await startReplica({ logger, clock: () => new Date(Date.now() + aheadMs) })

const receivedAt = (path: string) => receiver.requests.filter((request) => request.path === path)
const arrivalAt = (path: string, count = 1) =>
  eventually(`${count} requests at ${path}`, () => receivedAt(path).length >= count)

/** An endpoint at a path of the receiver, and a way to damage its secret and to replace it. */
async function anEndpoint(path: string, caller = aCaller()) {
  const endpoint = await createEndpointAt(caller, `${receiver.url}${path}`)
  return {
    caller,
    endpoint,
    /** As a damaged disk does it, and another change of the workspace's endpoints then lets it be seen. */
    async corrupt() {
      await admin`
        update endpoint set sealed_secret = set_bit(sealed_secret, 150, 1 - get_bit(sealed_secret, 150))
        where id = ${endpoint.id}`
      await admin`update endpoint_set set version = version + 1 where workspace_id = ${caller.workspaceId}`
      await untilChangesCount()
    },
    rotate: () => send<CreatedEndpoint>(caller, 'POST', `/v1/webhooks/${endpoint.id}/secret/rotate`),
    /** Deliveries that are neither made nor given up. */
    async waiting() {
      const rows = await admin`
        select from delivery where endpoint_id = ${endpoint.id}
          and status = 'PENDING' and attempts_made = 0`
      return rows.length
    },
  }
}

test('an endpoint whose secret does not open gets its deliveries once it is rotated; others get theirs meanwhile (OP-107)', async () => {
  const { caller, endpoint, corrupt, rotate, waiting } = await anEndpoint('/damaged')
  await anEndpoint('/beside', caller)
  const elsewhere = await anEndpoint('/elsewhere')
  await corrupt()
  const events = Array.from({ length: 100 }, () => anEvent(caller))
  await replica.publish(...events, anEvent(elsewhere.caller))
  await Promise.all([arrivalAt('/beside', 100), arrivalAt('/elsewhere')])
  expect(await waiting()).toBe(100)
  expect(receivedAt('/damaged')).toEqual([])
  expect(errors.map(({ endpoint_id }) => endpoint_id)).toEqual([endpoint.id])
  expect((await deliveriesOf(caller, endpoint))[0]).toMatchObject({ status: 'PENDING', attempts_made: 0 })

  await rotate()
  await arrivalAt('/damaged', 100)
  const ids = receivedAt('/damaged').map(({ headers }) => headers['webhook-id'])
  expect(ids.toSorted()).toEqual(events.map(({ id }) => id).toSorted())
  await eventually('all are DELIVERED', async () =>
    (await deliveriesOf(caller, endpoint)).every(({ status }) => status === 'DELIVERED'),
  )
})

const unopened = async () => Number(/^webhook_endpoints_unopened (\d+)$/m.exec(await metricsText())?.[1])

test('while it does not open its deliveries stay in the table as they are, and only the endpoint is looked at (OP-107)', async () => {
  const { caller, endpoint, corrupt, rotate, waiting } = await anEndpoint('/resting')
  await corrupt()
  await replica.publish(...Array.from({ length: 500 }, () => anEvent(caller)))
  const versions = async () => {
    const rows = await admin`select xmin::text from delivery where endpoint_id = ${endpoint.id} order by id`
    return rows.map(({ xmin }) => xmin)
  }
  await eventually('all are written', async () => (await waiting()) === 500)
  const before = await versions()
  // What another endpoint is sent shows that readings and looks go on.
  const other = await anEndpoint('/not-resting')
  for (let round = 1; round <= 3; round++) {
    aheadMs += 10_000
    await send(other.caller, 'POST', `/v1/webhooks/${other.endpoint.id}/ping`)
    await arrivalAt('/not-resting', round)
  }
  expect(await versions()).toEqual(before)
  expect(receivedAt('/resting')).toEqual([])
  await eventually('a metric says so', async () => (await unopened()) === 1)
  await rotate()
  await arrivalAt('/resting', 500)
  await eventually('the metric falls', async () => (await unopened()) === 0)
})

test('what waits in memory when the secret is damaged stays, and is signed once it is rotated (OP-107)', async () => {
  const held: ServerResponse[] = []
  receiver.answerWith((response) => void held.push(response))
  const { caller, corrupt, rotate, waiting } = await anEndpoint('/in-memory')
  const about = { data: { id: 'one thing' } }
  await replica.publish(anEvent(caller, about), anEvent(caller, about))
  await arrivalAt('/in-memory')
  await corrupt()
  receiver.answerWith((response) => response.writeHead(204).end())
  for (const response of held) response.writeHead(204).end()
  await eventually('the first is recorded', async () => (await waiting()) === 1)
  await rotate()
  await arrivalAt('/in-memory', 2)
})
