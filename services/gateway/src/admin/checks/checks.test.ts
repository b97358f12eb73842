import { randomUUID } from 'node:crypto'
import { errorBody } from '@backoffice/contracts/errors.ts'
import { expect, test } from 'vitest'
import { testGateway } from '../../testing/test-gateway.ts'

const gateway = await testGateway()
const { catalog, orders } = gateway.services
const at = new Date().toISOString()
const summary = {
  ...{ id: randomUUID(), check: 'check-stock', parameters: {}, state: 'PENDING', checked: {}, found: 0, error: null },
  ...{ created_at: at, started_at: null, ended_at: null },
}
const run = { ...summary, findings: [] }
const answers: Record<string, object> = {
  '/internal/checks/runs': run,
  '/internal/checks/run': { run },
}

test('its owner carries a check out; the audit log has who asked before the owner is asked', async () => {
  catalog.answer = ({ url = '' }, response) => void response.end(JSON.stringify(answers[url.split('?')[0] ?? '']))
  expect(await gateway.admin('POST', '/checks/check-stock/runs')).toMatchObject({ status: 202, body: run })
  expect(await gateway.admin('GET', `/checks/check-stock/runs/${run.id}`)).toMatchObject({ status: 200, body: run })
  catalog.answer = (_request, response) => void response.end(JSON.stringify({ run: null }))
  expect((await gateway.admin('GET', `/checks/check-stock/runs/${run.id}`)).status).toBe(404)
  catalog.answer = (request) => void request.socket.destroy()
  expect((await gateway.admin('POST', '/checks/check-stock/runs')).status).toBe(503)
  const { body } = await gateway.admin<{ items: unknown[] }>('GET', '/audit?action=check.started')
  expect(body.items).toMatchObject(Array(2).fill({ actor: 'bootstrap', target: 'checks/check-stock/runs' }))
})

test('a service that is away, or is of the version before, is named', async () => {
  catalog.answer = (_request, response) => void response.end(JSON.stringify({ runs: [summary] }))
  const unknown = errorBody('not_found', 'POST /internal/checks/runs does not exist', randomUUID())
  orders.answer = (_request, response) => void response.writeHead(404).end(JSON.stringify(unknown))
  const reason = 'orders runs a version that does not answer this yet; try again when its deploy is over'
  expect(await gateway.admin('POST', '/checks/check-orders/runs')).toMatchObject({
    status: 503,
    body: { error: { code: 'service_unavailable', message: reason } },
  })
  const { status, body } = await gateway.admin<Record<string, unknown[]>>('GET', '/checks')
  expect([status, body.runs]).toEqual([200, [summary]])
  expect(body.unanswered).toContainEqual({ service: 'orders', reason })
})

test('a check that is none, and parameters that could name other topics, are refused', async () => {
  expect((await gateway.admin('POST', '/checks/check-nothing/runs')).status).toBe(400)
  for (const kafka_prefix of ['a/b', 'a b', 'x\n', 'x'.repeat(101)]) {
    const { status, body } = await gateway.admin('POST', '/checks/reconcile/runs', { kafka_prefix })
    expect([status, JSON.stringify(body)]).toEqual([400, expect.stringContaining('kafka_prefix: must be a prefix')])
  }
})

test('a key of a workspace opens none of it', async () => {
  const { key } = await gateway.aKey()
  expect((await gateway.admin('GET', '/checks', undefined, key)).status).toBe(401)
  expect((await gateway.admin('POST', '/checks/check-stock/runs', {}, key)).status).toBe(401)
})
