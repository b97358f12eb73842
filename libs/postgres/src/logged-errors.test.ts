import { loggedError } from '@backoffice/runtime/logged-error.ts'
import { testDatabase } from '@backoffice/testing/database.ts'
import { expect, it } from 'vitest'

const { admin } = await testDatabase('catalog')
const EMAIL = 'ada@example.com'

it.each([
  ['a violated unique constraint', '23505', () => admin`insert into person values (${EMAIL}), (${EMAIL})`],
  ['a violated check', '23514', () => admin`insert into person values (${`${EMAIL}!`})`],
  ['a value of another type', '22P02', () => admin`select ${EMAIL}::text::uuid`],
  ['an error that SQL code raises', 'P0001', () => admin.unsafe(`do $$ begin raise '"${EMAIL}"'; end $$`)],
])('%s is logged with its code and nothing of the row', async (_what, code, provoke) => {
  await admin`create table if not exists person (email text primary key check (email not like '%!'))`
  const error = await provoke().then(
    () => undefined,
    (refusal: unknown) => refusal,
  )
  const logged = loggedError(error)
  expect(logged).toMatchObject({ type: 'PostgresError', code })
  expect(JSON.stringify(logged)).not.toContain(EMAIL)
})
