import { aCaller } from '@backoffice/testing/caller.ts'
import { describeWalks } from '@backoffice/testing/list-walk.ts'
import { expect, test } from 'vitest'
import { webhookDelivery } from '../testing/webhooks-api.ts'

const { admin, send, createEndpointAt } = await webhookDelivery()

test('the list is a page object of the workspace’s own endpoints, newest first', async () => {
  const caller = aCaller()
  await createEndpointAt(aCaller(), 'https://example.com/of-another-workspace')
  for (const name of ['first', 'second', 'third']) await createEndpointAt(caller, `https://example.com/${name}`)
  const answer = await send<{ items: { url: string }[] }>(caller, 'GET', '/v1/webhooks?page=1&limit=2')
  expect(answer.status).toBe(200)
  expect(answer.body).toMatchObject({ page: 1, size: 2, total: 3, total_pages: 2, has_next_page: true })
  expect(answer.body.items.map(({ url }) => url)).toEqual(['https://example.com/third', 'https://example.com/second'])
})

test('a page after the last is empty and still tells the total', async () => {
  const caller = aCaller()
  await createEndpointAt(caller, 'https://example.com')
  const answer = await send(caller, 'GET', '/v1/webhooks?page=5')
  expect(answer.body).toMatchObject({ page: 5, total: 1, has_previous_page: true, has_next_page: false, items: [] })
})

test('a key without webhook::read is refused', async () => {
  expect((await send(aCaller({ scopes: ['webhook::create'] }), 'GET', '/v1/webhooks')).status).toBe(403)
})

describeWalks('webhook endpoints', {
  send,
  async list() {
    const caller = aCaller()
    const insert = () => createEndpointAt(caller, 'https://receiver.example/')
    for (let n = 0; n < 10; n++) await insert()
    return {
      caller,
      path: '/v1/webhooks',
      foreign: (await createEndpointAt(aCaller(), 'https://receiver.example/')).id,
      insert,
      change: (id) => admin`update endpoint set updated_at = now(), description = 'Changed' where id = ${id}`,
    }
  },
})
