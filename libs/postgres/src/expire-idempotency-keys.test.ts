import { randomUUID } from 'node:crypto'
import { createLogger } from '@backoffice/runtime/logger.ts'
import { testDatabase } from '@backoffice/testing/database.ts'
import { expectKeptByWrongClock } from '@backoffice/testing/wrong-clock.ts'
import { afterAll, expect, it } from 'vitest'
import { openDatabase } from './database.ts'
import { claimKey, deleteExpired, expireIdempotencyKeys } from './idempotency.ts'

const { admin, db, workerUrl } = await testDatabase('catalog')
const worker = openDatabase({ url: workerUrl, applicationName: 'test' })
afterAll(() => worker.stop?.())

const insertKey = (workspaceId: string, key: string, age: string) => admin`
  insert into idempotency_key (workspace_id, key, fingerprint, status, created_at)
  values (${workspaceId}, ${key}, 'f', 201, now() - ${age}::interval)`

it('deletes keys older than 24 hours in every workspace, and no other (OP-08)', async () => {
  for (const age of ['25 hours', '48 hours', '23 hours 59 minutes', '0 hours']) await insertKey(randomUUID(), age, age)
  expect(await deleteExpired(worker)).toBe(2)
  const left = await admin`select key from idempotency_key order by created_at`
  expect(left.map(({ key }) => key)).toEqual(['23 hours 59 minutes', '0 hours'])
  await admin`truncate idempotency_key`
})

it('waits for no key that is being claimed anew, and keeps it', async () => {
  const workspaceId = randomUUID()
  for (const key of ['key', 'other']) await insertKey(workspaceId, key, '25 hours')
  await db.inWorkspace({ workspaceId, livemode: true, traceparent: 'trace' }, async (tx) => {
    expect(await claimKey(tx, { key: 'key', fingerprint: 'g' })).toBeUndefined()
    expect(await deleteExpired(worker)).toBe(1)
  })
  expect(await deleteExpired(worker)).toBe(0)
  expect(await admin`select fingerprint from idempotency_key`).toEqual([{ fingerprint: 'g' }])
})

it('deletes nothing while the clocks of the database and the host are more than a day apart, which counts as a failure', async () => {
  await insertKey(randomUUID(), 'old', '25 hours')
  await expectKeptByWrongClock(
    () => expireIdempotencyKeys(worker, createLogger('test', 'silent')),
    async () => (await admin`select from idempotency_key where key = 'old'`).length > 0,
  )
})
