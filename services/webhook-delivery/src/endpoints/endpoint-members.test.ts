import { aCaller } from '@backoffice/testing/caller.ts'
import { missingMembers, sampleMembers } from '@backoffice/testing/member-places.ts'
import { expect, it } from 'vitest'
import { webhookDelivery } from '../testing/webhooks-api.ts'
import { ENDPOINT } from './endpoint.ts'

/* Every declared member is where its declaration says. A new member needs no line here. */

const { admin, send } = await webhookDelivery()

/** Values that only some texts fit. */
const fitting = (n: number) => ({
  url: `https://shop${n}.example.com/hooks`,
  enabled_events: n === 0 ? ['order.paid', 'product.created'] : ['*'],
})

it('a create and an update of an endpoint set every member', async () => {
  const caller = aCaller()
  const { url: _, enabled_events: __, ...create } = ENDPOINT.shapes.create
  const { url: ___, enabled_events: ____, ...update } = ENDPOINT.shapes.update
  const sent = { ...sampleMembers(ENDPOINT, create, 0), ...fitting(0) }
  const made = await send<{ id: string }>(caller, 'POST', '/v1/webhooks', sent)
  expect(made.status).toBe(201)
  const rowOf = async () =>
    (
      await admin<{ row: object }[]>`
    select to_jsonb(endpoint) as row from endpoint where id = ${made.body.id}`
    )[0]?.row
  expect(missingMembers(ENDPOINT, sent, { answer: made.body, row: await rowOf() })).toEqual([])
  const changes = { ...sampleMembers(ENDPOINT, update, 2), ...fitting(2) }
  const changed = await send<object>(caller, 'PUT', `/v1/webhooks/${made.body.id}`, changes)
  expect(changed.status).toBe(200)
  expect(missingMembers(ENDPOINT, changes, { answer: changed.body, row: await rowOf() })).toEqual([])
})
