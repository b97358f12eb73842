import { aCaller } from '@backoffice/testing/caller.ts'
import { v7 as uuidv7 } from 'uuid'
import { expect, test } from 'vitest'
import { webhookDelivery } from '../testing/webhooks-api.ts'

const { admin, send, createEndpointAt } = await webhookDelivery()
const caller = aCaller()
const endpoint = await createEndpointAt(caller, 'https://receiver.example/')

const HOUR_MS = 3_600_000
const STATUSES = ['PENDING', 'DELIVERED', 'FAILED']
const TYPES = ['product.created', 'product.updated', 'tag.created']

interface Page {
  page: number
  total: number
  total_pages: number
  has_next_page: boolean
  items: { id: string }[]
}

/** Deliveries of the last 60 hours, many in some hours and none in others, newest first. */
const deliveries = Array.from({ length: 400 }, (_, index) => {
  const at = Date.now() - ((index * index) % 60) * HOUR_MS - (index % 7) * 1000
  return {
    workspace_id: caller.workspaceId,
    endpoint_id: endpoint.id,
    id: uuidv7({ msecs: at }),
    event_id: uuidv7({ msecs: at - (index % 3) * 24 * HOUR_MS }),
    event_type: TYPES[index % 11 === 0 ? 2 : index % 2] ?? '',
    status: STATUSES[index % 13 === 0 ? 2 : index % 5 === 0 ? 0 : 1] ?? '',
    created_at: new Date(at).toISOString(),
  }
}).sort((a, b) => (a.id < b.id ? 1 : -1))

await admin`
  insert into delivery (workspace_id, endpoint_id, id, event_id, event_type, status, next_attempt_at, created_at)
  select workspace_id, endpoint_id, id, event_id, event_type, status, case when status = 'PENDING' then created_at end, created_at
  from json_to_recordset(${JSON.stringify(deliveries)}::text::json) as row (
    workspace_id uuid, endpoint_id uuid, id uuid, event_id uuid, event_type text, status text, created_at timestamptz
  )`

const list = async (query: Record<string, string | number>): Promise<Page> => {
  const text = new URLSearchParams(
    Object.entries(query).map(([name, value]): [string, string] => [name, String(value)]),
  )
  return (await send<Page>(caller, 'GET', `/v1/webhooks/${endpoint.id}/deliveries?${text}`)).body
}

const [newest, middle, oldest] = [0, 200, 399].map((index) => deliveries[index]?.created_at ?? '')
const someEvent = deliveries.find(({ status }) => status === 'DELIVERED')

const filters: [string, Record<string, string>, (delivery: (typeof deliveries)[number]) => boolean][] = [
  ['nothing', {}, () => true],
  ['a status', { status: 'FAILED' }, ({ status }) => status === 'FAILED'],
  ['what waits', { status: 'PENDING' }, ({ status }) => status === 'PENDING'],
  ['a type', { event_type: 'tag.created' }, ({ event_type }) => event_type === 'tag.created'],
  [
    'type and status',
    { event_type: 'product.created', status: 'DELIVERED' },
    ({ event_type, status }) => event_type === 'product.created' && status === 'DELIVERED',
  ],
  ['a start in the middle of an hour', { since: middle ?? '' }, ({ created_at }) => created_at >= (middle ?? '')],
  ['an end in the middle of an hour', { until: middle ?? '' }, ({ created_at }) => created_at < (middle ?? '')],
  [
    'start, end and status',
    { since: oldest ?? '', until: newest ?? '', status: 'DELIVERED' },
    ({ created_at, status }) => created_at >= (oldest ?? '') && created_at < (newest ?? '') && status === 'DELIVERED',
  ],
  ['start and end within one hour', { since: middle ?? '', until: middle ?? '' }, () => false],
  ['an event', { event_id: someEvent?.event_id ?? '' }, ({ id }) => id === someEvent?.id],
  ['an event of another status', { event_id: someEvent?.event_id ?? '', status: 'FAILED' }, ({ id }) => id === 'none'],
  ['a time before all', { until: '1969-12-31T23:59:59Z' }, () => false],
]

for (const [name, query, isMatch] of filters) {
  test(`all pages together are all deliveries, newest first, filtered by ${name} (OP-100)`, async () => {
    const expected = deliveries.filter(isMatch).map(({ id }) => id)
    for (const limit of [1, 7, 100]) {
      const pages = Math.ceil(expected.length / limit)
      for (const page of new Set([1, 2, Math.ceil(pages / 2), pages, pages + 1].filter((number) => number > 0))) {
        const answer = await list({ ...query, page, limit })
        expect(answer).toMatchObject({ page, total: expected.length, total_pages: pages, has_next_page: page < pages })
        expect(answer.items.map(({ id }) => id)).toEqual(expected.slice((page - 1) * limit, page * limit))
      }
    }
  })
}

test('counts follow each change of status', async () => {
  const waiting = await list({ status: 'PENDING' })
  const [first] = waiting.items
  await admin`update delivery set status = 'DELIVERED', next_attempt_at = null where id = ${first?.id ?? ''}`
  expect((await list({ status: 'PENDING' })).total).toBe(waiting.total - 1)
  expect((await list({})).total).toBe(deliveries.length)
  const [sums] = await admin`
    select (select sum(deliveries)::integer from hourly_delivery_count where status = 'DELIVERED') as counted,
      (select count(*)::integer from delivery where status = 'DELIVERED') as there`
  expect(sums?.counted).toBe(sums?.there)
})

test('a page deep in a long list is the right one', async () => {
  const many = aCaller()
  const busy = await createEndpointAt(many, 'https://receiver.example/')
  await admin`
    insert into delivery (workspace_id, endpoint_id, id, event_id, event_type, status, created_at)
    select ${many.workspaceId}, ${busy.id}, uuidv7(make_interval(mins => -n)), uuidv7(), 'tag.created', 'DELIVERED',
      now() - make_interval(mins => n)
    from generate_series(1, 20000) as n`
  await admin`vacuum analyze delivery`
  const answer = await send<Page>(many, 'GET', `/v1/webhooks/${busy.id}/deliveries?page=500&limit=20`)
  expect(answer.body.total).toBe(20_000)
  const [row] = await admin`
    select count(*)::integer as newer from delivery
    where endpoint_id = ${busy.id} and id > ${answer.body.items[0]?.id ?? ''}`
  expect(row?.newer).toBe(499 * 20)
})
