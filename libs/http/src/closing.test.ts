import { Agent, request as httpRequest, type IncomingMessage } from 'node:http'
import type { AddressInfo } from 'node:net'
import { text } from 'node:stream/consumers'
import { createLogger } from '@backoffice/runtime/logger.ts'
import { aCaller, headersOf, tokenKey } from '@backoffice/testing/caller.ts'
import { testDatabase } from '@backoffice/testing/database.ts'
import { eventually } from '@backoffice/testing/eventually.ts'
import { expect, it } from 'vitest'
import { z } from 'zod'
import { operation } from './operation.ts'
import { ok } from './reply.ts'
import { createServiceApp, httpServer } from './server.ts'

const { db } = await testDatabase('catalog')

it('finishes the requests it has, takes no new one, and waits for no client that keeps its connection', async () => {
  const gate = Promise.withResolvers<void>()
  let isEntered = false
  const slow = operation({
    method: 'GET',
    path: '/v1/slow',
    summary: 'Wait',
    scope: 'product::read',
    responses: { 200: z.strictObject({}) },
    async handle() {
      isEntered = true
      await gate.promise
      return ok({})
    },
  })
  const app = createServiceApp({ logger: createLogger('test', 'silent'), db, operations: [slow], tokenKey })
  const server = httpServer(app, { HOST: '127.0.0.1', PORT: 0 })
  await server.start?.()
  const { port } = app.server.address() as AddressInfo
  const headers = await headersOf(aCaller())
  const agent = new Agent({ keepAlive: true })
  const get = () =>
    new Promise<IncomingMessage>((resolve, reject) => {
      httpRequest({ port, path: '/v1/slow', agent, headers }).on('response', resolve).on('error', reject).end()
    })

  const answer = get()
  await eventually('the handler runs', () => isEntered)
  const stopped = server.stop?.()
  await eventually('new connections are refused', () =>
    get().then(
      () => false,
      () => true,
    ),
  )
  gate.resolve()

  const response = await answer
  expect([response.statusCode, await text(response)]).toEqual([200, '{}'])
  expect(response.headers.connection).toBe('close')
  await stopped
  agent.destroy()
})
