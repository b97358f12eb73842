import { ApiError } from '@backoffice/contracts/errors.ts'
import { openDatabase, type Transaction } from '@backoffice/postgres/database.ts'
import { testDatabase } from '@backoffice/testing/database.ts'
import { expect, it } from 'vitest'
import { z } from 'zod'
import { operation } from './operation.ts'
import { ok } from './reply.ts'
import { createThing, expectRefusal, thingsApi } from './testing/things-api.ts'

const { admin, appUrl, db } = await testDatabase('catalog')

/** An operation that writes a row and then fails in its transaction as told. */
const failing = (name: string, fail: (tx: Transaction) => Promise<unknown>) =>
  operation({
    operationId: name,
    method: 'POST',
    path: `/v1/${name}`,
    summary: 'Fail',
    scope: 'product::create',
    responses: { 200: z.strictObject({}) },
    handle: ({ inWorkspace }) =>
      inWorkspace(async (tx) => {
        await tx`insert into tag (workspace_id, id, name, slug) values (${tx.context.workspaceId}, gen_random_uuid(), 'a', 'a')`
        return ok(await fail(tx))
      }),
  })

const { send } = await thingsApi(db, {
  operations: [
    failing('bug', async () => {
      throw new TypeError('secret of the implementation')
    }),
    failing('refusal', async () => {
      throw new ApiError('unprocessable', 'no such category', { path: ['categories', 0] })
    }),
    failing('limited', async () => {
      throw new ApiError('rate_limited', 'Slow down', { headers: { 'retry-after': '7' } })
    }),
    failing('clash', (tx) => tx`insert into tag select workspace_id, gen_random_uuid(), name, slug from tag`),
    failing('deadlock', (tx) => tx`do $$ begin raise exception using errcode = '40P01'; end $$`),
    failing('timeout', async (tx) => {
      await tx`set local statement_timeout = '1ms'`
      await tx`select pg_sleep(5)`
    }),
    failing('shutdown', (tx) => tx`select pg_terminate_backend(pg_backend_pid())`),
  ],
})

const TRY_LATER = 'The service cannot answer now; try again shortly'

it.each([
  ['bug', 500, 'internal_error', 'Something went wrong on our side; the request id helps us find it', undefined],
  ['refusal', 422, 'unprocessable', 'categories[0]: no such category', undefined],
  ['limited', 429, 'rate_limited', 'Slow down', '7'],
  ['clash', 409, 'conflict', 'The request clashed with others made at the same moment; send it again', undefined],
  ['deadlock', 503, 'service_unavailable', TRY_LATER, '1'],
  ['timeout', 503, 'service_unavailable', TRY_LATER, '1'],
  ['shutdown', 503, 'service_unavailable', TRY_LATER, '1'],
])('a %s in a handler is %i %s and leaves nothing written', async (name, status, code, message, retryAfter) => {
  const answer = await send<{ error: { message: string } }>('POST', `/v1/${name}`)
  expectRefusal(answer, status, code, message)
  expect(answer.body.error.message).toBe(message)
  expect(answer.headers['retry-after']).toBe(retryAfter)
  expect(await admin`select from tag`).toHaveLength(0)
})

it('is service_unavailable while PostgreSQL cannot be reached', async () => {
  const away = openDatabase({ url: Object.assign(new URL(appUrl), { port: '1' }).href, applicationName: 'test' })
  const api = await thingsApi(away, { operations: [createThing] })
  const answer = await api.send('POST', '/v1/things', { body: { name: 'mug' } })
  expectRefusal(answer, 503, 'service_unavailable', TRY_LATER)
})
