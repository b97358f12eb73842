import type { ServerResponse } from 'node:http'
import { aCaller } from '@backoffice/testing/caller.ts'
import { eventually } from '@backoffice/testing/eventually.ts'
import { startReceiver } from '@backoffice/testing/receiver.ts'
import { expect, test } from 'vitest'
import { notifyDue } from '../shards/notify-due.ts'
import { anEvent, webhookDelivery } from '../testing/webhooks-api.ts'

const { send, admin, createEndpointAt, startReplica } = await webhookDelivery()
const receiver = await startReceiver()
const replica = await startReplica({ schedule: [0, 30, 30] })

const receivedAt = (path: string) => receiver.requests.filter((request) => request.path === path)
const arrivalAt = (path: string, count = 1) =>
  eventually(`${count} requests at ${path}`, () => receivedAt(path).length >= count)

/** An endpoint of its own workspace at a path of the receiver. */
async function anEndpoint(path: string) {
  const caller = aCaller()
  const { id } = await createEndpointAt(caller, `${receiver.url}${path}`)
  return {
    caller,
    id,
    remove: () => send(caller, 'DELETE', `/v1/webhooks/${id}`),
    rows: () => admin`select * from delivery where endpoint_id = ${id} order by id`,
    settled: () =>
      eventually('no delivery is pending', async () => {
        const pending = await admin`select from delivery where endpoint_id = ${id} and status = 'PENDING'`
        return pending.length === 0
      }),
  }
}

/** Holds requests until all of them are answered with one status. */
function holdAnswers() {
  const held: ServerResponse[] = []
  receiver.answerWith((response) => void held.push(response))
  return (status: number) => {
    receiver.answerWith((response) => response.writeHead(status).end())
    for (const response of held) response.writeHead(status).end()
  }
}

test('deleting answers 204; the endpoint and its deliveries are not_found afterwards, deleting again too (OP-60)', async () => {
  const { caller, id, remove } = await anEndpoint('/gone')
  const before = await admin`select version from endpoint_set where workspace_id = ${caller.workspaceId}`
  const answer = await remove()
  expect([answer.status, answer.body]).toEqual([204, undefined])
  const [after] = await admin`select version from endpoint_set where workspace_id = ${caller.workspaceId}`
  expect(Number(after?.version)).toBe(Number(before[0]?.version) + 1)
  for (const path of [`/v1/webhooks/${id}`, `/v1/webhooks/${id}/deliveries`]) {
    expect((await send(caller, 'GET', path)).status).toBe(404)
  }
  expect((await remove()).status).toBe(404)
  expect(await send(caller, 'GET', '/v1/webhooks')).toMatchObject({ body: { total: 0 } })
})

test('events that come afterwards make no deliveries', async () => {
  const { caller, id, remove, rows } = await anEndpoint('/none')
  await remove()
  const other = await createEndpointAt(caller, `${receiver.url}/other`)
  await replica.publish(anEvent(caller))
  await arrivalAt('/other')
  expect(other.id).not.toBe(id)
  expect(await rows()).toHaveLength(0)
})

test('what waits in memory is not sent any more; the attempt under way is recorded (OP-97)', async () => {
  const { caller, remove, rows, settled } = await anEndpoint('/waiting')
  const answer = holdAnswers()
  const about = { data: { id: 'one thing' } }
  await replica.publish(...Array.from({ length: 3 }, () => anEvent(caller, about)))
  await arrivalAt('/waiting')
  await remove()
  answer(204)
  await settled()
  expect((await rows()).map(({ status, attempts_made }) => [status, attempts_made])).toEqual([
    ['DELIVERED', 1],
    ['FAILED', 0],
    ['FAILED', 0],
  ])
  expect(receivedAt('/waiting')).toHaveLength(1)
})

test('no retry follows an attempt that was under way (OP-97)', async () => {
  const { caller, remove, rows, settled } = await anEndpoint('/failing')
  const answer = holdAnswers()
  await replica.publish(anEvent(caller))
  await arrivalAt('/failing')
  await remove()
  answer(500)
  await settled()
  expect(await rows()).toMatchObject([{ status: 'FAILED', attempts_made: 1, next_attempt_at: null }])
  expect(receivedAt('/failing')).toHaveLength(1)
})

test('what waits in the table is met once and ends; nothing meets it again (OP-97)', async () => {
  const { caller, id, remove, rows, settled } = await anEndpoint('/table')
  const patient = await startReplica({ schedule: [3_600_000] })
  await patient.publish(...Array.from({ length: 200 }, () => anEvent(caller)))
  await remove()
  await admin`update delivery set next_attempt_at = now() where endpoint_id = ${id}`
  await settled()
  const deliveries = await rows()
  expect(deliveries).toHaveLength(200)
  for (const delivery of deliveries) {
    expect(delivery).toMatchObject({ status: 'FAILED', attempts_made: 0, next_attempt_at: null, resend_at: null })
  }
  expect(receivedAt('/table')).toHaveLength(0)
})

test('while their end waits for another transaction it takes one connection, and no other endpoint waits (OP-97)', async () => {
  holdAnswers()(204)
  const [removed, other] = [aCaller(), await anEndpoint('/beside')]
  const ids: string[] = []
  for (let index = 0; index < 3; index++) ids.push((await createEndpointAt(removed, receiver.url)).id)
  const patient = await startReplica({ schedule: [3_600_000] })
  await patient.publish(...Array.from({ length: 30 }, () => anEvent(removed)))
  await patient.stop()
  for (const id of ids) await send(removed, 'DELETE', `/v1/webhooks/${id}`)
  await admin.unsafe(`
    create function wait_for_test() returns trigger language plpgsql as
      $$ begin perform pg_advisory_xact_lock_shared(97); return new; end $$;
    create trigger wait_for_test before update of status on delivery for each row
      when (old.workspace_id = '${removed.workspaceId}') execute function wait_for_test()`)
  const holding = await admin.reserve()
  await holding`select pg_advisory_lock(97)`
  await admin`update delivery set next_attempt_at = now() where workspace_id = ${removed.workspaceId}`
  const waiting = async () => {
    const rows = await admin`
      select from pg_stat_activity where datname = current_database() and wait_event = 'advisory'`
    return rows.length
  }
  for (let round = 1; round <= 5; round++) {
    for (const id of ids) await notifyDue(admin, [id])
    await eventually('one waits', async () => (await waiting()) > 0)
    await replica.publish(anEvent(other.caller))
    await arrivalAt('/beside', round)
    await other.settled()
  }
  expect(await waiting()).toBe(1)
  await holding`select pg_advisory_unlock(97)`
  holding.release()
  await eventually('all have ended', async () => {
    const pending = await admin`
      select from delivery where workspace_id = ${removed.workspaceId} and status = 'PENDING'`
    return pending.length === 0
  })
  await admin.unsafe('drop trigger wait_for_test on delivery; drop function wait_for_test()')
})

test('deleting while events come leaves nothing pending, and nothing arrives once all has ended (25 rounds)', async () => {
  holdAnswers()(204)
  for (let round = 0; round < 25; round++) {
    const path = `/race/${round}`
    const { caller, remove, rows, settled } = await anEndpoint(path)
    const events = Array.from({ length: 20 }, () => anEvent(caller))
    const [, removed] = await Promise.all([replica.publish(...events), remove()])
    expect(removed.status).toBe(204)
    await settled()
    const delivered = (await rows()).filter(({ status }) => status === 'DELIVERED')
    expect(receivedAt(path)).toHaveLength(delivered.length)
  }
})
