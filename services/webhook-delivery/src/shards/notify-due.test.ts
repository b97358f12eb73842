import { randomUUID } from 'node:crypto'
import { openSession } from '@backoffice/postgres/lock-session.ts'
import { testDatabase } from '@backoffice/testing/database.ts'
import { eventually } from '@backoffice/testing/eventually.ts'
import { afterAll, expect, test } from 'vitest'
import { DUE_CHANNEL, notifications, notifyDue, readNotification } from './notify-due.ts'

const { admin, workerUrl } = await testDatabase('webhook-delivery')
const heard: string[] = []
const session = openSession(
  { url: workerUrl },
  'listener',
  () => undefined,
  {},
  (channel, payload) => {
    if (channel === DUE_CHANNEL) heard.push(payload)
  },
)
await session`listen ${session(DUE_CHANNEL)}`
afterAll(() => session.end())

const ids = (count: number) => Array.from({ length: count }, () => randomUUID())
const allHeard = () => heard.splice(0).map(readNotification)
const heardOf = (count: number) => eventually(`${count} endpoints are heard of`, () => named().length >= count)
const named = () => heard.flatMap((payload) => readNotification(payload).endpointIds)

test('every process hears of the endpoints, after the commit and not of what is rolled back', async () => {
  const [due, undone] = [ids(3), ids(2)]
  await admin
    .begin(async (tx) => {
      await notifyDue(tx as never, undone)
      throw new Error('undone')
    })
    .catch(() => undefined)
  await admin.begin(async (tx) => {
    await notifyDue(tx as never, due)
    await session`select 1`
    expect(heard).toEqual([])
  })
  await heardOf(3)
  expect(allHeard()).toEqual([{ written: undefined, endpointIds: due }])
})

test('however many endpoints are due, each is named once, in texts that PostgreSQL takes', async () => {
  const due = ids(2501)
  await notifyDue(admin as never, due)
  await heardOf(due.length)
  expect(Math.max(...heard.map((payload) => Buffer.byteLength(payload)))).toBeLessThan(8000)
  expect(
    allHeard()
      .flatMap(({ endpointIds }) => endpointIds)
      .toSorted(),
  ).toEqual(due.toSorted())
})

test('the process that wrote first attempts knows them by their token, in each part, with the least id in it', async () => {
  const [due, token] = [ids(401), `${randomUUID()}/17`]
  const rows = admin`select id as endpoint_id, id as first_id from unnest(${due}::text[]) as id`
  await notifications(admin as never, rows, token)
  await heardOf(due.length)
  const parts = heard.splice(0).map(readNotification)
  expect(parts.length).toBeGreaterThan(1)
  for (const { written, endpointIds } of parts) {
    expect(written).toEqual({ token, firstId: [...endpointIds].sort()[0] })
  }
})

test('no endpoint, no notification', async () => {
  await notifyDue(admin as never, [])
  const due = ids(1)
  await notifyDue(admin as never, due)
  await heardOf(1)
  expect(allHeard()).toEqual([{ written: undefined, endpointIds: due }])
})

test('commits are heard of in their order, whichever process made them', async () => {
  const due = ids(20)
  for (const id of due) await notifyDue((due.indexOf(id) % 2 === 0 ? admin : session) as never, [id])
  await heardOf(due.length)
  expect(allHeard().flatMap(({ endpointIds }) => endpointIds)).toEqual(due)
})
