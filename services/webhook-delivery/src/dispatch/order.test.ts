import { createLogger } from '@backoffice/runtime/logger.ts'
import { aCaller } from '@backoffice/testing/caller.ts'
import { eventually } from '@backoffice/testing/eventually.ts'
import { startReceiver } from '@backoffice/testing/receiver.ts'
import { expect, test } from 'vitest'
import { endpointDirectory } from '../endpoints/endpoint-directory.ts'
import { anEvent, testKeys, webhookDelivery } from '../testing/webhooks-api.ts'

const { createEndpointAt, startReplica } = await webhookDelivery()
const receiver = await startReceiver()

const arrivedAt = (path: string) =>
  receiver.requests.filter((request) => request.path === path).map(({ headers }) => headers['webhook-id'])
const about = { data: { id: 'one thing' } }

test('an event whose attempt could not be made is not overtaken by those behind it (OP-74)', async () => {
  const directory = endpointDirectory(testKeys, createLogger('test', 'silent'))
  let isAway = false
  const replica = await startReplica({
    directory: {
      async of(sql, ids) {
        if (!isAway) return directory.of(sql, ids)
        isAway = false
        throw new Error('PostgreSQL is away')
      },
    },
  })
  const caller = aCaller()
  await createEndpointAt(caller, `${receiver.url}/withheld`)
  await replica.publish(anEvent(caller, about))
  await eventually('the endpoint is known', () => arrivedAt('/withheld').length === 1)
  const events = Array.from({ length: 5 }, () => anEvent(caller, about))
  isAway = true
  await replica.publish(...events)
  await eventually('all arrive', () => arrivedAt('/withheld').length === 6)
  expect(arrivedAt('/withheld').slice(1)).toEqual(events.map(({ id }) => id))
  await replica.stop()
})
