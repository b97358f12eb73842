import { createHmac, randomBytes, randomUUID } from 'node:crypto'
import { EVENT_TOPICS, RECORDS, TOPICS } from '@backoffice/contracts/events.ts'
import { deadLetterTopic } from '@backoffice/contracts/services.ts'
import { aTopic, collect, testKafka } from '@backoffice/messaging/kafka/testing/kafka.ts'
import { registeredSchemas } from '@backoffice/messaging/registry/testing/registered-schemas.ts'
import { backingServices } from '@backoffice/testing/backing-services.ts'
import { aCaller } from '@backoffice/testing/caller.ts'
import { eventually } from '@backoffice/testing/eventually.ts'
import { type Received, startReceiver } from '@backoffice/testing/receiver.ts'
import { expect, test } from 'vitest'
import { anEvent, type CreatedEndpoint, webhookDelivery } from '../testing/webhooks-api.ts'
import { PLATFORM_DATA } from './testing/platform-event-samples.ts'

const DEAD_LETTERS = deadLetterTopic('webhook-delivery.fan-out')
const SUBJECT = `${TOPICS.platformEvents}-bundle.updated`

const [{ createEndpointAt, startReplica }, { kafka, open }, receiver] = await Promise.all([
  webhookDelivery(),
  testKafka([...EVENT_TOPICS, DEAD_LETTERS].map((name) => aTopic(name))),
  startReceiver(),
  registeredSchemas(),
])
await (await startReplica()).consume(open())
const dead = collect(open(), DEAD_LETTERS)

const registry = (path: string, schema?: object) =>
  fetch(`${backingServices().registryUrl}/subjects/${SUBJECT}${path}`, {
    ...(schema && {
      method: 'POST',
      headers: { 'content-type': 'application/vnd.schemaregistry.v1+json' },
      body: JSON.stringify({ schemaType: 'JSON', schema: JSON.stringify(schema) }),
    }),
  })
const registered = (await (await registry('/versions/latest')).json()) as { id: number; schema: string }

/** As a producer elsewhere does it, who knows the broker and the registry only. */
async function publish(...events: { data: unknown }[]) {
  await publishUnder(registered.id, ...events)
}

async function publishUnder(schemaId: number, ...events: { data: unknown }[]) {
  for (const event of events) await publishAs((event.data as { id: string }).id, schemaId, event)
}

async function publishAs(key: string, schemaId: number, event: object) {
  const header = Buffer.alloc(5)
  header.writeInt32BE(schemaId, 1)
  const value = Buffer.concat([header, Buffer.from(JSON.stringify(event))])
  await kafka.produce([{ topic: TOPICS.platformEvents, key, value, headers: {} }])
}

const aBundle = (differences: object = {}) => ({
  id: randomUUID().toUpperCase(),
  name: 'Cap and bag',
  members: [
    { product: randomUUID(), product_variant: null, price: { NGN: 450_000 }, quantity: 1 },
    { product: randomUUID(), product_variant: randomUUID(), price: null, quantity: 2 },
  ],
  ...differences,
})

/** A workspace with an endpoint for every event, and what arrives there. */
async function subscribed() {
  const caller = aCaller()
  const path = `/${randomUUID()}`
  const endpoint = await createEndpointAt(caller, `${receiver.url}${path}`, ['*'])
  return {
    caller,
    endpoint,
    bundleUpdated: (differences: object = {}) =>
      anEvent(caller, { type: 'bundle.updated', data: aBundle(), ...differences }),
    arrivals: (count: number) =>
      eventually(`${count} deliveries`, () => {
        const arrived = receiver.requests.filter((request) => request.path === path)
        return arrived.length >= count && arrived
      }),
  }
}

const isSigned = ({ headers, body }: Received, { secret }: CreatedEndpoint) => {
  const signature = createHmac('sha256', Buffer.from(secret.slice('whsec_'.length), 'base64'))
    .update(`${headers['webhook-id']}.${headers['webhook-timestamp']}.`)
    .update(body)
    .digest('hex')
  return headers['webhook-signature'] === `v1,${signature}`
}

const reasonFor = async (event: { data: unknown }) => {
  const { id } = event.data as { id: string }
  const letter = await eventually('a dead letter', () => dead.records.find(({ key }) => key === id))
  return letter.headers['dead-letter-reason']?.toString()
}

test('an event published elsewhere under the registered schema is delivered signed, its data as it came (OP-69)', async () => {
  const { endpoint, bundleUpdated, arrivals } = await subscribed()
  const event = bundleUpdated()
  await publish(event)
  const [arrival] = await arrivals(1)
  const { id, type, occurred_at: timestamp, livemode, data } = event
  expect(arrival?.body.toString()).toBe(JSON.stringify({ id, type, timestamp, livemode, data }))
  expect(arrival && isSigned(arrival, endpoint)).toBe(true)
})

test('each event of the platform’s other parts has a sample here', () => {
  expect(Object.keys(PLATFORM_DATA)).toEqual(Object.keys(RECORDS[TOPICS.platformEvents]))
})

test.each(Object.entries(PLATFORM_DATA))(
  'Event names and data: %s fires for changes made by the dashboard and the assistant, with the data that is listed',
  async (type, data) => {
    const { caller, endpoint, arrivals } = await subscribed()
    const subject = `${backingServices().registryUrl}/subjects/${TOPICS.platformEvents}-${type}/versions/latest`
    const schema = (await (await fetch(subject)).json()) as { id: number }
    const event = anEvent(caller, { type, data })
    await publishUnder(schema.id, event)
    const [arrival] = await arrivals(1)
    expect(JSON.parse(String(arrival?.body))).toEqual({
      id: event.id,
      type,
      timestamp: event.occurred_at,
      livemode: event.livemode,
      data,
    })
    expect(arrival && isSigned(arrival, endpoint)).toBe(true)
  },
)

test.each<[string, object, RegExp]>([
  ['of the wrong shape', { data: aBundle({ members: [{ price: '1' }] }) }, /^data\.members\[0\]\.price: /],
  ['of an unknown type', { type: 'bundle.exploded' }, /^type: "bundle\.exploded" is no event of the catalogue$/],
  ['of another topic’s type', { type: 'product.deleted' }, /^type: product\.deleted is published to catalog\.events$/],
  ['named webhook.ping', { type: 'webhook.ping' }, /^type: "webhook\.ping" is no event/],
  ['without a workspace', { workspace_id: undefined }, /^workspace_id: /],
  ['of a time far ahead', { occurred_at: '2999-01-01T00:00:00Z' }, /^occurred_at: lies more than a day ahead$/],
])(
  'an event %s goes to the dead letters with the reason, and its neighbours are delivered',
  async (_, wrong, reason) => {
    const { bundleUpdated, arrivals } = await subscribed()
    const bad = bundleUpdated(wrong)
    const data = aBundle({ id: (bad.data as { id: string }).id })
    const [before, after] = [bundleUpdated({ data }), bundleUpdated({ data })]
    await publish(before, bad, after)
    const arrived = (await arrivals(2)).map(({ headers }) => headers['webhook-id'])
    expect(arrived).toEqual([before.id, after.id])
    expect(await reasonFor(bad)).toMatch(reason)
  },
)

test('an event whose key is longer than 255 characters goes to the dead letters', async () => {
  const { bundleUpdated, arrivals } = await subscribed()
  const [fitting, long] = ['k'.repeat(255), randomBytes(2000).toString('hex')]
  const [bad, good] = [bundleUpdated(), bundleUpdated()]
  await publishAs(long, registered.id, bad)
  await publishAs(fitting, registered.id, good)
  const [arrival] = await arrivals(1)
  expect(arrival?.headers['webhook-id']).toBe(good.id)
  const letter = await eventually('a dead letter', () => dead.records.find(({ key }) => key === long))
  expect(letter.headers['dead-letter-reason']?.toString()).toBe('key: has more than 255 characters')
})

test('an event that is refused keeps no later one of its resource back (OP-58)', async () => {
  const { bundleUpdated, arrivals } = await subscribed()
  const data = aBundle()
  const bad = bundleUpdated({ data, livemode: 'yes' })
  await publish(bad)
  expect(await reasonFor(bad)).toMatch(/^livemode: /)
  const good = bundleUpdated({ data })
  await publish(good)
  const [arrival] = await arrivals(1)
  expect(arrival?.headers['webhook-id']).toBe(good.id)
})

test('a producer whose schema the readers could not rely on is refused by the registry', async () => {
  const schema = JSON.parse(registered.schema)
  const { livemode: _, ...others } = schema.properties
  const refused = await registry('/versions', { ...schema, properties: { ...others, livemode: { type: 'string' } } })
  expect(refused.status).toBe(409)
  expect(await (await registry('/versions/latest')).json()).toMatchObject({ id: registered.id })
})
