import { randomUUID } from 'node:crypto'
import { errorBody } from '@backoffice/contracts/errors.ts'
import { expect, test } from 'vitest'
import { testGateway } from '../../testing/test-gateway.ts'

const gateway = await testGateway()
const { catalog, collections, imports } = gateway.services

test('a service that hangs, or is of the version before, is named beside the answers of the others', async () => {
  const counts = { consumers: [{ consumer: 'catalog.returns', letters: 2, parked_keys: 1 }] }
  catalog.answer = (_request, response) => void response.end(JSON.stringify(counts))
  const unknown = errorBody('not_found', 'GET /internal/dead-letters/counts does not exist', randomUUID())
  collections.answer = (_request, response) => void response.writeHead(404).end(JSON.stringify(unknown))
  imports.answer = () => undefined
  const { status, body } = await gateway.admin<Record<string, unknown[]>>('GET', '/dead-letters')
  expect([status, body.consumers]).toEqual([200, [{ ...counts.consumers[0], service: 'catalog' }]])
  const reason = 'collections runs a version that does not answer this yet; try again when its deploy is over'
  expect(body.unanswered).toContainEqual({ service: 'collections', reason })
  expect(body.unanswered).toContainEqual({ service: 'imports', reason: 'imports does not answer now; try again' })
  expect(await gateway.admin('GET', '/consumers/collections.products/dead-letters')).toMatchObject({
    status: 503,
    body: { error: { code: 'service_unavailable', message: reason } },
  })
})

test('a replay is in the audit log before the service is asked', async () => {
  catalog.answer = (request) => void request.socket.destroy()
  expect((await gateway.admin('POST', '/consumers/catalog.returns/dead-letters/replay')).status).toBe(503)
  const { body } = await gateway.admin<{ items: unknown[] }>('GET', '/audit?action=dead_letters.replayed')
  expect(body.items).toMatchObject([{ actor: 'bootstrap', target: 'consumers/catalog.returns/dead-letters' }])
})

test('a key of a workspace opens none of it', async () => {
  const { key } = await gateway.aKey()
  for (const path of ['/dead-letters', '/outbox', '/consumers/catalog.returns/dead-letters'])
    expect((await gateway.admin('GET', path, undefined, key)).status).toBe(401)
})
