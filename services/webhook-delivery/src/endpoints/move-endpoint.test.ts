import { randomUUID } from 'node:crypto'
import { aCaller } from '@backoffice/testing/caller.ts'
import { expect, test } from 'vitest'
import { webhookDelivery } from '../testing/webhooks-api.ts'

const { send, admin } = await webhookDelivery()
const secret = `whsec_${Buffer.alloc(32, 1).toString('base64')}`
const FORMER = 'https://former.example/hook'
const MOVED = 'https://moved.example/hook'

async function anAppsEndpoint() {
  const caller = aCaller({ scopes: [] })
  const merchant = { ...caller, scopes: aCaller().scopes }
  const id = randomUUID()
  const body = { url: FORMER, enabled_events: ['*'], secret, description: null }
  expect((await send(caller, 'PUT', `/internal/endpoints/${id}`, body)).status).toBe(204)
  return {
    id,
    caller,
    merchant,
    move: (url: string, former: string[], by = caller) =>
      send<{ error: { message: string } }>(by, 'POST', `/internal/endpoints/${id}/move`, { url, former }),
    read: async () => (await send<{ url: string; updated_at: string }>(merchant, 'GET', `/v1/webhooks/${id}`)).body,
    version: async () => {
      const [row] = await admin`select version from endpoint_set where workspace_id = ${caller.workspaceId}`
      return Number(row?.version)
    },
  }
}

test('an endpoint at a former URL gets the other one, as every process reads; again changes nothing (OP-227)', async () => {
  const { move, read, version } = await anAppsEndpoint()
  const before = await version()
  expect((await move(MOVED, ['https://older.example/hook', FORMER])).status).toBe(204)
  const moved = await read()
  expect(moved.url).toBe(MOVED)
  expect(await version()).toBe(before + 1)
  expect((await move(MOVED, [FORMER])).status).toBe(204)
  expect([await read(), await version()]).toEqual([moved, before + 1])
})

test('one with another URL stays, and so does one of another workspace; one that is deleted does not come back', async () => {
  const { id, merchant, caller, move, read } = await anAppsEndpoint()
  expect((await move(MOVED, [FORMER], aCaller({ scopes: [] }))).status).toBe(204)
  expect((await move(MOVED, ['https://older.example/hook'])).status).toBe(204)
  expect((await read()).url).toBe(FORMER)
  await send(merchant, 'DELETE', `/v1/webhooks/${id}`)
  expect((await move(MOVED, [FORMER])).status).toBe(204)
  expect(await admin`select from endpoint where workspace_id = ${caller.workspaceId}`).toHaveLength(0)
})

test('a URL that is no target is refused with its path', async () => {
  const { move } = await anAppsEndpoint()
  const { status, body } = await move('http://moved.example/hook', [FORMER])
  expect([status, body.error.message]).toEqual([400, expect.stringContaining('url: ')])
})
