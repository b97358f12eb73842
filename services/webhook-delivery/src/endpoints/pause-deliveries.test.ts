import type { Caller } from '@backoffice/http/internal-token.ts'
import type { Transaction } from '@backoffice/postgres/database.ts'
import { noteDeletion } from '@backoffice/service/workspaces/deletion-passes.ts'
import { aCaller } from '@backoffice/testing/caller.ts'
import { eventually } from '@backoffice/testing/eventually.ts'
import { startReceiver } from '@backoffice/testing/receiver.ts'
import { expect, test } from 'vitest'
import { anEvent, webhookDelivery } from '../testing/webhooks-api.ts'
import { pauseDeliveries } from './pause-deliveries.ts'

const { admin, db, send, createEndpointAt, deliveriesOf, startReplica } = await webhookDelivery()
const receiver = await startReceiver()
let aheadMs = 0
const clock = () => new Date(Date.now() + aheadMs)
const { publish } = await startReplica({ clock })

const receivedAt = (path: string) => receiver.requests.filter((request) => request.path === path)
const arrivalAt = (path: string, count = 1) =>
  eventually(`${count} requests at ${path}`, () => receivedAt(path).length >= count)

/** A workspace with an endpoint at a path of the receiver, which can be suspended and resumed. */
async function aWorkspace(path: string) {
  const caller = aCaller()
  const endpoint = await createEndpointAt(caller, `${receiver.url}${path}`)
  const change = (work: (tx: Transaction) => Promise<unknown> | undefined) =>
    db.inWorkspace({ ...caller, traceparent: '' }, async (tx) => void (await work(tx)))
  return {
    caller,
    endpoint,
    suspend: (at = new Date()) => change((tx) => pauseDeliveries.onSuspended?.(tx, at)),
    resume: (at = new Date()) => change((tx) => pauseDeliveries.onResumed?.(tx, at)),
    remove: () =>
      change(async (tx) => {
        await noteDeletion(tx)
        await pauseDeliveries.onDeleted?.(tx, new Date())
      }),
    /** Deliveries that are still to be made. */
    pending: async () =>
      (await admin`select from delivery where endpoint_id = ${endpoint.id} and status = 'PENDING'`).length,
    versions: async () => {
      const rows = await admin`select xmin::text from delivery where endpoint_id = ${endpoint.id} order by id`
      return rows.map(({ xmin }) => xmin)
    },
  }
}

const other = await aWorkspace('/beside')
/** Sends something to another workspace from the table, which shows that the replicas look for what is due. */
async function seeOthersServed() {
  for (let round = 0; round < 2; round++) {
    const before = receivedAt('/beside').length
    await send(other.caller, 'POST', `/v1/webhooks/${other.endpoint.id}/ping`)
    await arrivalAt('/beside', before + 1)
  }
}

const about = (caller: Caller, id: string, count: number) =>
  Array.from({ length: count }, () => anEvent(caller, { data: { id } }))

test('nothing is sent while a workspace is suspended, and all of it in its order once it is resumed', async () => {
  const { caller, endpoint, suspend, resume, pending } = await aWorkspace('/suspended')
  await suspend()
  const resource = crypto.randomUUID()
  const events = about(caller, resource, 15)
  for (const event of events) await publish(event)
  await seeOthersServed()
  expect(receivedAt('/suspended')).toEqual([])
  expect(await pending()).toBe(15)
  for (const delivery of await deliveriesOf(caller, endpoint))
    expect(delivery).toMatchObject({ status: 'PENDING', attempts_made: 0 })

  await resume()
  const late = about(caller, resource, 10)
  for (const event of late) await publish(event)
  await arrivalAt('/suspended', 25)
  const ids = receivedAt('/suspended').map(({ headers }) => headers['webhook-id'])
  expect(ids).toEqual([...events, ...late].map(({ id }) => id))
})

test('retries and resends wait too, and use no attempt up', async () => {
  const { caller, endpoint, suspend, resume } = await aWorkspace('/failing')
  receiver.answerWith((response) => response.writeHead(500).end())
  await publish(anEvent(caller))
  const status = async () => (await deliveriesOf(caller, endpoint))[0]
  await eventually('the first attempt failed', async () => (await status())?.attempts_made === 1)
  receiver.answerWith((response) => response.writeHead(204).end())
  await suspend()
  await send(caller, 'POST', `/v1/webhooks/${endpoint.id}/deliveries/${(await status())?.id}/resend`)
  aheadMs += 120_000
  await seeOthersServed()
  expect(receivedAt('/failing')).toHaveLength(1)
  expect(await status()).toMatchObject({ status: 'PENDING', attempts_made: 1 })
  await resume()
  await eventually('it is delivered', async () => (await status())?.status === 'DELIVERED')
  expect(receivedAt('/failing')).toHaveLength(2)
})

test('what waits in memory when a workspace is suspended is let alone in the table', async () => {
  const { caller, suspend, resume, pending, versions } = await aWorkspace('/held')
  const held: { end(): void }[] = []
  receiver.answerWith((response) => void held.push({ end: () => response.writeHead(204).end() }))
  await publish(...about(caller, crypto.randomUUID(), 300))
  await arrivalAt('/held')
  await suspend()
  receiver.answerWith((response) => response.writeHead(204).end())
  // What was read 5 ms before counts as present (OP-97).
  await seeOthersServed()
  for (const { end } of held) end()
  await eventually('only the first is recorded', async () => (await pending()) === 299)
  const before = await versions()
  aheadMs += 20_000
  await seeOthersServed()
  expect(await versions()).toEqual(before)
  expect(receivedAt('/held')).toHaveLength(1)
  await resume()
  await arrivalAt('/held', 300)
})

test('a record that comes again, or late, changes nothing', async () => {
  const { caller, suspend, resume } = await aWorkspace('/repeated')
  const [first, second] = [new Date(1_000), new Date(2_000)]
  await suspend(first)
  await resume(second)
  await suspend(first)
  await publish(anEvent(caller))
  await arrivalAt('/repeated')
})

test('the deliveries of a deleted workspace are not sent any more, before its rows are gone', async () => {
  const { caller, endpoint, remove } = await aWorkspace('/deleted')
  receiver.answerWith((response) => response.writeHead(500).end())
  await publish(anEvent(caller))
  await eventually('an attempt failed', async () => (await deliveriesOf(caller, endpoint))[0]?.attempts_made === 1)
  receiver.answerWith((response) => response.writeHead(204).end())
  await remove()
  await publish(anEvent(caller))
  aheadMs += 120_000
  await seeOthersServed()
  expect(receivedAt('/deleted')).toHaveLength(1)
})
