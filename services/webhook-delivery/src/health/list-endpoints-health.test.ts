import type { EndpointsHealth } from '@backoffice/contracts/endpoint-state.ts'
import { aCaller } from '@backoffice/testing/caller.ts'
import { expect, test } from 'vitest'
import type { z } from 'zod'
import { MOST_ENDPOINTS, webhookDelivery } from '../testing/webhooks-api.ts'

const { send, createEndpointAt, admin, takeStatements } = await webhookDelivery()
const URL = 'https://shop.example.com/hooks'

test('the endpoints of a workspace are listed worst first, with one statement, and those of no other', async () => {
  const caller = aCaller()
  const made: string[] = []
  for (let count = 0; count < 6; count++) made.push((await createEndpointAt(caller, URL)).id)
  await createEndpointAt(aCaller(), URL)
  const [fine, requested, late, early, retried, gone] = made
  const set = (id: string | undefined, state: string, reason: string | null, failingSince: string | null) =>
    admin`
      update endpoint_health set state = ${state}, reason = ${reason}, failing_since = ${failingSince},
        last_failed_at = ${failingSince}, last_failure = '{"error_class": "status", "response_status": 503}'
      where endpoint_id = ${id ?? null}`
  await set(requested, 'DISABLED', 'requested', '2026-01-01T00:00:00Z')
  await set(late, 'FAILING', 'no_success', '2026-03-02T00:00:00Z')
  await set(early, 'FAILING', 'no_success', '2026-03-01T00:00:00Z')
  await set(retried, 'ACTIVE', null, '2026-02-01T00:00:00Z')
  await set(gone, 'DISABLED', 'gone', '2026-03-03T00:00:00Z')
  takeStatements()
  const { body } = await send<z.output<typeof EndpointsHealth>>(caller, 'GET', '/internal/endpoints-health')
  expect(takeStatements().filter((text) => text.includes('from endpoint'))).toHaveLength(1)
  expect(body.endpoints.map(({ id }) => id)).toEqual([gone, early, late, retried, fine, requested])
  expect(body.endpoints[0]).toMatchObject({
    url: URL,
    app: null,
    failing_since: '2026-03-03T00:00:00.000Z',
    last_failure: { at: '2026-03-03T00:00:00.000Z', error_class: 'status', response_status: 503 },
  })
  expect(body.limits).toEqual({ endpoints: { used: 6, most: MOST_ENDPOINTS } })
})

test('a session of the console that reads webhooks gets the same list, and a key does not', async () => {
  const caller = aCaller()
  const endpoint = await createEndpointAt(caller, URL)
  const list = (asked: Partial<typeof caller>) =>
    send<z.output<typeof EndpointsHealth>>({ ...caller, ...asked }, 'GET', '/console/webhooks')
  expect((await list({ console: true })).body).toEqual({
    endpoints: [expect.objectContaining({ id: endpoint.id, url: URL, state: 'ACTIVE' })],
  })
  expect([(await list({})).status, (await list({ console: true, scopes: ['product'] })).status]).toEqual([403, 403])
})
