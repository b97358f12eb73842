import { aCaller } from '@backoffice/testing/caller.ts'
import { eventually } from '@backoffice/testing/eventually.ts'
import { startReceiver } from '@backoffice/testing/receiver.ts'
import { expect, test } from 'vitest'
import { anEvent, webhookDelivery } from '../testing/webhooks-api.ts'

const { admin, createEndpointAt, deliveriesOf, startReplica } = await webhookDelivery()
const receiver = await startReceiver()

test('a result that PostgreSQL leaves out is written again, and its delivery is sent once', async () => {
  await admin.unsafe(`
    create sequence updates;
    grant usage on sequence updates to public;
    create function leave_out_the_first() returns trigger language plpgsql as
      $$ begin return case when nextval('webhook_delivery.updates') > 1 then new end; end $$;
    create trigger leave_out_the_first before update of attempts_made on delivery
      for each row execute function leave_out_the_first();
  `)
  const caller = aCaller()
  const endpoint = await createEndpointAt(caller, receiver.url)
  const replica = await startReplica()
  await replica.publish(anEvent(caller))
  await eventually('it is delivered', async () => (await deliveriesOf(caller, endpoint))[0]?.status === 'DELIVERED')
  const [updates] = await admin`select last_value::integer as made from updates`
  expect([receiver.requests.length, updates?.made]).toEqual([1, 2])
})
