import { randomUUID } from 'node:crypto'
import { aCaller } from '@backoffice/testing/caller.ts'
import { v7 as uuidv7 } from 'uuid'
import { expect, test } from 'vitest'
import { webhookDelivery } from '../testing/webhooks-api.ts'

const { admin, send, createEndpointAt, takeStatements } = await webhookDelivery()
const caller = aCaller()
const endpoints = await Promise.all([1, 2, 3].map(() => createEndpointAt(caller, 'https://receiver.example/')))
const HOUR_MS = 3_600_000
const RESOURCES = Array.from({ length: 5 }, () => randomUUID())
const STATUSES = ['PENDING', 'DELIVERED', 'FAILED']

interface Found {
  id: string
  endpoint_id: string
  event_id: string
  resource_id: string
  event_type: string
  status: string
  response_status: number | null
  error_class: string | null
  created_at: string
}
interface Answer {
  items: Found[]
  next: string | null
  error: { code: string; message: string }
}

/** 300 events of the last days, each delivered to one or two endpoints; every eleventh was not attempted yet. */
const deliveries = Array.from({ length: 300 }, (_, n) => {
  const at = Date.now() - (((n * n) % 61) * HOUR_MS) / 2 - n * 10
  const event_id = n % 17 === 0 ? randomUUID() : uuidv7({ msecs: at })
  return endpoints
    .filter((_, index) => index === n % 3 || (n % 4 === 0 && index === (n + 1) % 3))
    .map((endpoint, index) => {
      const status = STATUSES[n % 7 === 0 ? 2 : n % 5 === 0 ? 0 : 1] ?? ''
      const attempts_made = n % 11 === 0 ? 0 : 1 + (n % 2)
      const answered = status === 'DELIVERED' ? 200 : n % 2 === 0 ? 503 : null
      return {
        workspace_id: caller.workspaceId,
        endpoint_id: endpoint.id,
        id: uuidv7({ msecs: at + index }),
        event_id,
        resource_id: RESOURCES[n % 5] ?? '',
        event_type: n % 6 === 0 ? 'tag.created' : 'product.updated',
        status,
        attempts_made,
        response_status: attempts_made === 0 ? null : answered,
        error_class: attempts_made === 0 || status === 'DELIVERED' ? null : answered === null ? 'timeout' : 'status',
        created_at: new Date(at + index).toISOString(),
      }
    })
})
  .flat()
  .sort((a, b) => (a.id < b.id ? 1 : -1))

await admin`
  with row as materialized (
    select * from json_to_recordset(${JSON.stringify(deliveries)}::text::json) as row (
      workspace_id uuid, endpoint_id uuid, id uuid, event_id uuid, resource_id text, event_type text, status text,
      attempts_made integer, response_status smallint, error_class text, created_at timestamptz
    )
  ), events as (
    insert into event (workspace_id, id, type, key, body, occurred_at)
    select distinct on (event_id) workspace_id, event_id, event_type, resource_id, '{}', created_at from row
  ), attempts as (
    insert into attempt (
      workspace_id, delivery_id, number, started_at, duration_ms, request_url, request_headers, response_status, error_class
    )
    select workspace_id, id, number, created_at, 1, '', '{}',
      case when number = attempts_made then response_status else 418 end, case when number = attempts_made then error_class else 'dns' end
    from row cross join generate_series(1, attempts_made) as number
  )
  insert into delivery (
    workspace_id, endpoint_id, id, event_id, event_type, status, attempts_made, next_attempt_at, created_at
  )
  select workspace_id, endpoint_id, id, event_id, event_type, status, attempts_made,
    case when status = 'PENDING' then created_at + interval '30 days' end, created_at
  from row`

/** The third endpoint is that of an app. */
await admin`
  with its as (
    insert into app_installation (workspace_id, id, provider) values (${caller.workspaceId}, ${randomUUID()}, 'example-pay')
    returning workspace_id, id
  ), key as (
    insert into app_key (workspace_id, id, installation_id) select workspace_id, 'its key', id from its
  )
  update endpoint set made_by = 'its key' where id = ${endpoints[2]?.id ?? ''}`

const list = async (query: Record<string, string | number>, who = caller) => {
  const text = new URLSearchParams(
    Object.entries(query).map(([name, value]): [string, string] => [name, String(value)]),
  )
  return send<Answer>(who, 'GET', `/v1/deliveries?${text}`)
}

/** All deliveries that a query finds, page by page. */
async function walk(query: Record<string, string | number>): Promise<Found[]> {
  const items: Found[] = []
  for (let after = {}; ; ) {
    const { status, body } = await list({ ...query, ...after })
    expect(status).toBe(200)
    items.push(...body.items)
    if (body.next === null) return items
    after = { after: body.next }
  }
}

const middle = deliveries[150]
const [first, second, third] = endpoints
const filters: [string, Record<string, string>, (delivery: Found) => boolean][] = [
  ['nothing', {}, () => true],
  ['an endpoint', { endpoint_id: first?.id ?? '' }, ({ endpoint_id }) => endpoint_id === first?.id],
  ['an app (OP-285)', { app: 'example-pay' }, ({ endpoint_id }) => endpoint_id === third?.id],
  ['an app that is not there', { app: 'other-pay' }, () => false],
  ['an app and an endpoint of another', { app: 'example-pay', endpoint_id: first?.id ?? '' }, () => false],
  ['an event', { event_id: middle?.event_id ?? '' }, ({ event_id }) => event_id === middle?.event_id],
  ['a resource', { resource_id: RESOURCES[3] ?? '' }, ({ resource_id }) => resource_id === RESOURCES[3]],
  ['an event of another resource', { event_id: middle?.event_id ?? '', resource_id: randomUUID() }, () => false],
  ['a type', { event_type: 'tag.created' }, ({ event_type }) => event_type === 'tag.created'],
  ['a status', { status: 'FAILED' }, ({ status }) => status === 'FAILED'],
  ['several states', { status: 'FAILED,PENDING' }, ({ status }) => status !== 'DELIVERED'],
  ['the status of the last answer', { response_status: '503' }, ({ response_status }) => response_status === 503],
  ['an answer before the last', { response_status: '418' }, () => false],
  ['what went wrong last', { error_class: 'timeout' }, ({ error_class }) => error_class === 'timeout'],
  ['a start', { since: middle?.created_at ?? '' }, ({ created_at }) => created_at >= (middle?.created_at ?? '')],
  ['an end', { until: middle?.created_at ?? '' }, ({ created_at }) => created_at < (middle?.created_at ?? '')],
  [
    'all together',
    {
      endpoint_id: second?.id ?? '',
      resource_id: RESOURCES[1] ?? '',
      event_type: 'product.updated',
      status: 'FAILED,PENDING',
      error_class: 'status',
      until: middle?.created_at ?? '',
    },
    (found) =>
      found.endpoint_id === second?.id &&
      found.resource_id === RESOURCES[1] &&
      found.event_type === 'product.updated' &&
      found.status !== 'DELIVERED' &&
      found.error_class === 'status' &&
      found.created_at < (middle?.created_at ?? ''),
  ],
]

test.each(filters)(
  'all pages together are the deliveries of all endpoints, newest first, filtered by %s',
  async (_, query, isMatch) => {
    const expected = deliveries.filter(isMatch).map(({ id }) => id)
    for (const limit of [3, 20, 100]) {
      expect((await walk({ ...query, limit })).map(({ id }) => id)).toEqual(expected)
    }
  },
)

test('an item has the body of a delivery, its endpoint and resource, and how the last attempt ended', async () => {
  const { items } = (await list({ limit: 100 })).body
  for (const item of items) {
    const { workspace_id, ...expected } = deliveries.find(({ id }) => id === item.id) ?? { workspace_id: '' }
    expect(item).toMatchObject(expected)
  }
  expect(Object.keys(items[0] ?? {})).toHaveLength(12)
})

test('a page takes two statements, whatever it finds', async () => {
  takeStatements()
  await list({ status: 'FAILED,PENDING', error_class: 'timeout' })
  expect(takeStatements().filter((text) => /delivery/.test(text))).toHaveLength(2)
})

test('a filter that nearly nothing passes costs a bounded read: the page is short, and next goes on', async () => {
  const busy = aCaller()
  const [one, other] = [
    await createEndpointAt(busy, 'https://a.example/'),
    await createEndpointAt(busy, 'https://b.example/'),
  ]
  await admin`
    with stored as (
      insert into event (workspace_id, id, type, key, body, occurred_at)
      select ${busy.workspaceId}, uuidv7(make_interval(secs => -n)), 'tag.created', n::text, '{}', now()
      from generate_series(1, 9000) as n returning id, key::integer as n
    )
    insert into delivery (workspace_id, endpoint_id, id, event_id, event_type, status, created_at)
    select ${busy.workspaceId}, case when n > 8000 then ${other.id}::uuid else ${one.id}::uuid end, uuidv7(make_interval(secs => -n)), id,
      case when n in (50, 7000, 8500) then 'tag.created' else 'product.updated' end, 'DELIVERED', now()
    from stored`
  const found: { items: number; next: string | null }[] = []
  for (let after = {}; ; ) {
    const { items, next } = (await list({ event_type: 'tag.created', ...after }, busy)).body
    found.push({ items: items.length, next })
    if (next === null) break
    after = { after: next }
  }
  expect(found.map(({ items }) => items)).toEqual([1, 0, 1, 1])
  const [plan] = await admin`select count(*)::integer as deliveries from delivery where endpoint_id = ${one.id}`
  expect(plan).toEqual({ deliveries: 8000 })
})

test('others see nothing: another workspace, a deleted endpoint', async () => {
  const mine = aCaller()
  const endpoint = await createEndpointAt(mine, 'https://receiver.example/')
  await send(mine, 'POST', `/v1/webhooks/${endpoint.id}/ping`)
  expect((await list({}, mine)).body.items).toMatchObject([{ endpoint_id: endpoint.id, event_type: 'webhook.ping' }])
  expect((await list({ endpoint_id: endpoint.id })).body).toEqual({ items: [], next: null })
  await send(mine, 'DELETE', `/v1/webhooks/${endpoint.id}`)
  expect((await list({}, mine)).body).toEqual({ items: [], next: null })
  expect((await list({}, aCaller({ scopes: ['product'] }))).status).toBe(403)
})

test.each([
  ['status=LOST', 'status'],
  ['status=', 'status'],
  ['response_status=99', 'response_status'],
  ['response_status=abc', 'response_status'],
  ['error_class=bad', 'error_class'],
  ['since=yesterday', 'since'],
  ['after=1', 'after'],
  ['page=2', 'page'],
])('%s is refused', async (query, member) => {
  const { status, body } = await send<Answer>(caller, 'GET', `/v1/deliveries?${query}`)
  expect([status, body.error.code]).toEqual([400, 'bad_request'])
  expect(body.error.message).toContain(member)
})
