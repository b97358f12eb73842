import { ApiError } from '@backoffice/contracts/errors.ts'
import { openDatabase, type Transaction } from '@backoffice/postgres/database.ts'
import { REQUEST_SETTINGS } from '@backoffice/postgres/request-settings.ts'
import { testDatabase } from '@backoffice/testing/database.ts'
import { whenDone } from '@backoffice/testing/when-done.ts'
import { expect, it } from 'vitest'
import { z } from 'zod'
import { operation } from './operation.ts'
import { ok } from './reply.ts'
import { createThing, expectRefusal, thingsApi } from './testing/things-api.ts'

const { admin, appUrl } = await testDatabase('catalog')

/** An operation that writes a row and then fails in its transaction as told. */
const failing = (name: string, fail: (tx: Transaction) => Promise<unknown>) =>
  operation({
    operationId: name,
    method: 'POST',
    path: `/v1/${name}`,
    summary: 'Fail',
    scope: 'product::create',
    responses: { 200: z.strictObject({}) },
    refusals: ['unprocessable'],
    handle: ({ inWorkspace }) =>
      inWorkspace(async (tx) => {
        await tx`insert into tag (workspace_id, id, name, slug) values (${tx.context.workspaceId}, gen_random_uuid(), 'a', 'a')`
        return ok(await fail(tx))
      }),
  })

/** Answers with the longest statement that PostgreSQL allows it. */
const limitOf = (method: 'GET' | 'POST') =>
  operation({
    operationId: `limit${method}`,
    method,
    path: '/v1/limit',
    summary: 'Read the limit of statements',
    scope: 'product::create',
    responses: { 200: z.strictObject({ limit: z.string() }) },
    handle: ({ inWorkspace }) =>
      inWorkspace(async (tx) => {
        const [row] = await tx<{ limit: string }[]>`select current_setting('statement_timeout') as limit`
        return ok(row)
      }),
  })

/** Waits for locks as in production, where those of other tests wait longer. */
const requests = openDatabase({ url: appUrl, applicationName: 'requests', transactionSettings: REQUEST_SETTINGS })
whenDone(() => requests.stop?.())
const { send } = await thingsApi(requests, {
  operations: [
    limitOf('GET'),
    limitOf('POST'),
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
    failing('read-only', async (tx) => {
      await tx`set transaction read only`
      await tx`delete from tag`
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
  ['timeout', 503, 'service_unavailable', 'The request took too long; ask for less at once, or try again shortly', '1'],
  ['read-only', 503, 'service_unavailable', TRY_LATER, '1'],
  ['shutdown', 503, 'service_unavailable', TRY_LATER, '1'],
])('a %s in a handler is %i %s and leaves nothing written', async (name, status, code, message, retryAfter) => {
  const answer = await send<{ error: { message: string } }>('POST', `/v1/${name}`)
  expectRefusal(answer, status, code, message)
  expect(answer.body.error.message).toBe(message)
  expect(answer.headers['retry-after']).toBe(retryAfter)
  expect(await admin`select from tag`).toHaveLength(0)
})

it('a request that waits 3 s for a lock is rate_limited, and leaves nothing written', async () => {
  const answer = await admin.begin(async (locking) => {
    await locking`lock table tag in share mode`
    return send<{ error: { message: string } }>('POST', '/v1/refusal')
  })
  expectRefusal(answer, 429, 'rate_limited', 'Other requests are changing what this one needs; try again shortly')
  expect(answer.headers).toMatchObject({ 'retry-after': '1', 'error-reason': 'locked' })
  expect(await admin`select from tag`).toHaveLength(0)
})

it('a statement of a GET may take five seconds, and one of a write what its role allows', async () => {
  const limits = async (method: 'GET' | 'POST') => (await send<{ limit: string }>(method, '/v1/limit')).body.limit
  expect([await limits('GET'), await limits('POST')]).toEqual(['5s', '30s'])
})

it('is service_unavailable while PostgreSQL cannot be reached', async () => {
  const away = openDatabase({ url: Object.assign(new URL(appUrl), { port: '1' }).href, applicationName: 'test' })
  const api = await thingsApi(away, { operations: [createThing] })
  const answer = await api.send('POST', '/v1/things', { body: { name: 'mug' } })
  expectRefusal(answer, 503, 'service_unavailable', TRY_LATER)
})
