import { testDatabase } from '@backoffice/testing/database.ts'
import { standStillAfterSending } from '@backoffice/testing/stand-still.ts'
import { whenDone } from '@backoffice/testing/when-done.ts'
import { expect, test } from 'vitest'
import { openLockSession } from './lock-session.ts'

const { workerUrl } = await testDatabase('catalog')

async function aSession(answerWithinMs: number) {
  const session = openLockSession({ url: workerUrl }, 'lock session test', answerWithinMs)
  whenDone(() => session.close())
  await session.sql`select 1`
  return session
}

test('a session that has no answer in time is lost, and its statement fails', async () => {
  const session = await aSession(300)
  await expect(session.answered(session.sql`select pg_sleep(10)`)).rejects.toThrow()
  expect(session.lost.aborted).toBe(true)
})

test('a session is kept when its process stood still while the answer came', async () => {
  const session = await aSession(3000)
  standStillAfterSending('select 2', 4000)
  await session.answered(session.sql`select 2`)
  expect(session.lost.aborted).toBe(false)
})

test('PostgreSQL gives up a session whose host is gone within 15 s, also while it has sent something', async () => {
  const { sql } = await aSession(3000)
  // As its socket has them.
  const [settings] = await sql`
    select
      current_setting('tcp_user_timeout')::integer / 1000 as "withData",
      current_setting('tcp_keepalives_idle')::integer
        + current_setting('tcp_keepalives_interval')::integer * current_setting('tcp_keepalives_count')::integer as idle`
  expect(settings).toEqual({ withData: 14, idle: 14 })
})
