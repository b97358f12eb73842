import { request } from 'node:http'
import { aCaller, headersOf, serviceHeadersOf } from '@backoffice/testing/caller.ts'
import { testDatabase } from '@backoffice/testing/database.ts'
import { eventually } from '@backoffice/testing/eventually.ts'
import { expect, it } from 'vitest'
import { z } from 'zod'
import { operation } from './operation.ts'
import { ok } from './reply.ts'
import { createThing, expectRefusal, thingsApi } from './testing/things-api.ts'

const countThings = operation({
  method: 'POST',
  path: '/internal/things/count',
  scope: 'internal',
  responses: { 200: z.strictObject({ workspace: z.string() }) },
  handle: async ({ context }) => ok({ workspace: context.workspaceId }),
})

const draftThing = operation({
  operationId: 'draftThing',
  summary: 'Draft a thing',
  method: 'POST',
  path: '/console/things/draft',
  scope: 'product::update',
  responses: { 200: z.strictObject({ workspace: z.string() }) },
  handle: async ({ context }) => ok({ workspace: context.workspaceId }),
})

let isGone = Promise.withResolvers<void>()
let ended = Promise.withResolvers<boolean>()

/** Says at its end whether its transaction has begun. It begins once the caller is gone. */
const handle: typeof createThing.handle = async ({ inWorkspace }) => {
  let hasBegun = false
  await isGone.promise
  return inWorkspace(async () => {
    hasBegun = true
    return ok({})
  }).finally(() => ended.resolve(hasBegun))
}
const takeThing = operation({
  method: 'POST',
  path: '/internal/things/take',
  scope: 'internal',
  responses: { 200: z.strictObject({}) },
  handle,
})
const keepThing = operation({
  operationId: 'keepThing',
  summary: 'Keep a thing',
  method: 'POST',
  path: '/console/things/keep',
  scope: 'product::update',
  responses: { 200: z.strictObject({}) },
  handle,
})

const { db } = await testDatabase('catalog')
const operations = [createThing, countThings, draftThing, takeThing, keepThing]
const { port, send } = await thingsApi(db, { operations })

it('asks for no scope: the service that calls has checked that of its own operation', async () => {
  const caller = aCaller({ scopes: [] })
  const answer = await send('POST', '/internal/things/count', { caller })
  expect([answer.status, answer.body]).toEqual([200, { workspace: caller.workspaceId }])
})

it('refuses who has no signed token with invalid_api_key', async () => {
  for (const headers of [{}, { 'x-internal-token': 'made-up' }, { authorization: 'Bearer sk_live_x' }]) {
    const answer = await send('POST', '/internal/things/count', { caller: null, headers })
    expectRefusal(answer, 401, 'invalid_api_key', 'The request did not come through the gateway')
  }
})

it('refuses the token of a caller’s request, although it is valid: only a service’s own call opens it', async () => {
  const headers = await headersOf(aCaller())
  const answer = await send('POST', '/internal/things/count', { caller: null, headers })
  expectRefusal(answer, 403, 'insufficient_scope', 'Only other services may call this operation')
})

it('a service’s own call opens no operation of the API', async () => {
  const headers = await serviceHeadersOf(aCaller())
  const answer = await send('POST', '/v1/things', { caller: null, headers, body: { name: 'mug' } })
  expectRefusal(answer, 403, 'insufficient_scope', 'API key lacks required scope: product::create')
})

it('begins nothing for a service that has left; what a client has asked for is done', async () => {
  const hasBegunAfterLeaving = async (path: string, headers: Record<string, string>) => {
    isGone = Promise.withResolvers()
    ended = Promise.withResolvers()
    const leaving = request({ port, method: 'POST', path, headers })
    leaving.on('error', () => undefined)
    leaving.end()
    await eventually('it is sent', () => leaving.writableFinished)
    // Answers come in turn: the request above has been read, then its socket has been closed.
    await send('POST', '/internal/things/count')
    leaving.destroy()
    for (let n = 0; n < 3; n++) await send('POST', '/internal/things/count')
    isGone.resolve()
    return ended.promise
  }
  expect(await hasBegunAfterLeaving('/internal/things/take', await serviceHeadersOf(aCaller()))).toBe(false)
  expect(await hasBegunAfterLeaving('/console/things/keep', await headersOf(aCaller({ console: true })))).toBe(true)
})

it('is not part of the OpenAPI document', async () => {
  const { body } = await send<{ paths: object }>('GET', '/openapi.json', { caller: null })
  expect(Object.keys(body.paths)).toEqual(['/v1/things'])
})

it('cannot be declared where the gateway sends requests', () => {
  // @ts-expect-error without a scope of its own it would be open to every key
  expect(operation({ ...countThings, path: '/v1/things/count', scope: 'internal' })).toBeDefined()
})

it('what is under /console/ is for sessions of the console, by the scope of each operation, and in no document', async () => {
  const path = '/console/things/draft'
  const caller = aCaller({ console: true })
  expect((await send('POST', path, { caller })).body).toEqual({ workspace: caller.workspaceId })
  expectRefusal(await send('POST', path), 403, 'insufficient_scope', 'Only the console may call this operation')
  const reading = await send('POST', path, { caller: aCaller({ console: true, scopes: ['product::read'] }) })
  expectRefusal(reading, 403, 'insufficient_scope', 'API key lacks required scope: product::update')
})
