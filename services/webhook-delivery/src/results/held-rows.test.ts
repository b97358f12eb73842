import type { ServerResponse } from 'node:http'
import { aCaller } from '@backoffice/testing/caller.ts'
import { eventually } from '@backoffice/testing/eventually.ts'
import { startReceiver } from '@backoffice/testing/receiver.ts'
import { expect, test } from 'vitest'
import { anEvent, webhookDelivery } from '../testing/webhooks-api.ts'

const { admin, createEndpointAt, deliveriesOf, startReplica } = await webhookDelivery()
const receiver = await startReceiver()
const { publish } = await startReplica()

test.each(['endpoint_health', 'delivery'])(
  'a transaction that holds rows of one endpoint (%s) delays no results of another',
  async (table) => {
    const answers: ServerResponse[] = []
    receiver.answerWith((response, { path }) => {
      if (path === `/held/${table}`) answers.push(response)
      else response.writeHead(204).end()
    })
    const [caller, beside] = [aCaller(), aCaller()]
    const held = await createEndpointAt(caller, `${receiver.url}/held/${table}`)
    const other = await createEndpointAt(beside, receiver.url)
    await publish(anEvent(caller))
    await eventually('it is sent', () => answers.length === 1)
    const holding = await admin.reserve()
    await holding`begin`
    await holding`select from ${admin(table)} where endpoint_id = ${held.id} for update`
    answers[0]?.writeHead(204).end()
    await eventually('its result waits', async () => {
      const waiting = await admin`
        select from pg_stat_activity
        where datname = current_database() and application_name = 'worker' and wait_event_type = 'Lock'`
      return waiting.length > 0
    })
    for (let event = 1; event <= 3; event++) {
      await publish(anEvent(beside))
      await eventually('the result of the other is recorded', async () => {
        const deliveries = await deliveriesOf(beside, other)
        return deliveries.filter(({ status }) => status === 'DELIVERED').length === event
      })
    }
    expect((await deliveriesOf(caller, held))[0]?.status).toBe('PENDING')
    await holding`commit`
    holding.release()
    await eventually('it is recorded', async () => (await deliveriesOf(caller, held))[0]?.status === 'DELIVERED')
  },
)
