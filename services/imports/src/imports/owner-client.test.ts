import { randomUUID } from 'node:crypto'
import type { ServerResponse } from 'node:http'
import { PRODUCT_STATUSES } from '@backoffice/contracts/product.ts'
import { aCaller, testSigner } from '@backoffice/testing/caller.ts'
import { eventually } from '@backoffice/testing/eventually.ts'
import { startReceiver } from '@backoffice/testing/receiver.ts'
import { whenDone } from '@backoffice/testing/when-done.ts'
import { expect, it } from 'vitest'
import { importsService } from '../testing/imports-service.ts'
import { OwnerClient } from './owner-client.ts'

const { adminOf, post, get, report } = await importsService()
const never = new AbortController().signal
const NOTHING = { created: [], updated: [], unchanged: [], failed: [] }
const asking = {
  ...{ id: '0190b3a0-0000-7000-8000-000000000001', workspaceId: aCaller().workspaceId, livemode: true },
  ...({ template: 'customers', productStatuses: [...PRODUCT_STATUSES] } as const),
}
const page = {
  read: [{ row: 2, cells: [], key: 'a', json: '{"row":2,"values":{"email":"ä\\"@x"}}' }],
  refused: [],
  earlier: ['e'],
}

/** A client whose owners are all at this address. */
function clientOf(url: string) {
  const client = new OwnerClient({ CATALOG_URL: url, COLLECTIONS_URL: url, ORDERS_URL: url }, testSigner({}, 'imports'))
  whenDone(() => client.stop?.())
  return client
}

it('asks the owner of the template with the rows as they are, and again when it does not answer', async () => {
  const owner = await startReceiver()
  const answers = [
    [503, '{}'],
    [200, 'not json'],
    [200, '{"created":[]}'],
    [200, JSON.stringify({ ...NOTHING, created: [2] })],
  ] as const
  owner.answerWith((response) => {
    const [status, body] = answers[owner.requests.length - 1] ?? [500, '{}']
    response.writeHead(status, { 'content-type': 'application/json' }).end(body)
  })
  expect(await clientOf(owner.url).check(asking, page, never)).toEqual({ ...NOTHING, created: [2] })
  expect(owner.requests).toHaveLength(4)
  expect(JSON.parse(owner.requests[3]?.body.toString() ?? '')).toEqual({
    ...{ template: 'customers', product_statuses: [...PRODUCT_STATUSES], earlier: ['e'], in_parts: true },
    rows: [{ row: 2, values: { email: 'ä"@x' } }],
  })
})

it('asks again about the rows that an owner leaves out of its answer', async () => {
  const owner = await startReceiver()
  const rows = () =>
    owner.requests.map(({ body }) => JSON.parse(body.toString()).rows.map((one: { row: number }) => one.row))
  const error = { column: 'sku', code: 'conflict', message: 'no', value: null } as const
  const parts = [
    { ...NOTHING, updated: [2, 4] },
    { ...NOTHING, updated: [3], failed: [{ row: 5, error }] },
  ]
  owner.answerWith((response) => response.writeHead(200).end(JSON.stringify(parts[owner.requests.length - 1])))
  const read = [2, 3, 4, 5].map((row) => ({ row, cells: [], key: `${row}`, json: `{"row":${row},"values":{}}` }))
  const answer = await clientOf(owner.url).check(asking, { read, earlier: [] }, never)
  expect(answer).toEqual({ ...NOTHING, updated: [2, 3, 4], failed: [{ row: 5, error }] })
  expect(rows()).toEqual([
    [2, 3, 4, 5],
    [3, 5],
  ])
})

it('the images of one workspace wait for no undo, and for no other workspace that asks again and again', async () => {
  const owner = await startReceiver()
  const held: ServerResponse[] = []
  const mine = { ...asking, workspaceId: randomUUID(), template: 'products' } as const
  const answer = { import_id: mine.id, waiting: 0, added: 1, failed: 0, failures: [] }
  owner.answerWith((response, { body }) => {
    if (body.includes(mine.id)) response.writeHead(200).end(JSON.stringify(answer))
    else held.push(response)
  })
  const client = clientOf(owner.url)
  const others = { ...asking, template: 'products', id: randomUUID() } as const
  const stopping = new AbortController()
  const undos = Array.from({ length: 4 }, () => client.undo(others, stopping.signal).catch(() => 'stopped'))
  const images = Array.from({ length: 8 }, () => client.images(others).catch(({ code }) => code))
  await eventually('undos and images are under way', () => held.length === 3)
  expect(await client.images(mine)).toEqual(answer)
  stopping.abort()
  for (const response of held) response.destroy()
  owner.answerWith((response) => response.destroy())
  await Promise.all([...undos, ...images])
})

it('the checks of a workspace wait for one turn of another, whose owner takes long', async () => {
  const owner = await startReceiver()
  const held: ServerResponse[] = []
  owner.answerWith((response, { body }) => {
    if (body.includes('mine')) response.writeHead(200).end(JSON.stringify(NOTHING))
    else held.push(response)
  })
  const client = clientOf(owner.url)
  const stopping = new AbortController()
  const others = Array.from({ length: 6 }, () => client.check(asking, page, stopping.signal).catch(() => 'stopped'))
  await eventually('three are asked', () => held.length === 3)
  const mine = { ...asking, workspaceId: randomUUID() }
  for (let nth = 0; nth < 3; nth++) {
    expect(await client.check(mine, { ...page, earlier: ['mine'] }, never)).toEqual(NOTHING)
  }
  expect(held).toHaveLength(3)
  stopping.abort()
  await Promise.all(others)
})

it('waits longer for the owner when the file has come far', async () => {
  const owner = await startReceiver()
  owner.answerWith((response) => response.writeHead(owner.requests.length < 5 ? 503 : 200).end(JSON.stringify(NOTHING)))
  const read = [{ row: 10_001, cells: [], key: 'a', json: '{"row":10001,"values":{}}' }]
  expect(await clientOf(owner.url).check(asking, { read, earlier: [] }, never)).toEqual(NOTHING)
  expect(owner.requests).toHaveLength(5)
})

it('says which service does not answer', async () => {
  await expect(clientOf('http://127.0.0.1:9').check(asking, page, never)).rejects.toMatchObject({
    ...{ code: 'service_unavailable', message: 'orders does not answer', cause: { code: 'ECONNREFUSED' } },
  })
})

it('a file whose owner is away is tried again, and FAILED with the reason after ten minutes', async () => {
  const caller = aCaller()
  const { body: uploaded } = await post(caller, 'customers', 'email,firstname\na@example.com,Ada')
  const failing = () =>
    eventually('it fails', async () => {
      const [row] = await adminOf('imports')<{ failing_since: Date | null }[]>`
        select failing_since from import where id = ${uploaded.id}`
      return row?.failing_since ?? false
    })
  await failing()
  expect(await get(caller, uploaded.id)).toMatchObject({ status: 'VALIDATING' })
  await adminOf('imports')`
    update import set failing_since = now() - interval '10 minutes' where id = ${uploaded.id}`
  await eventually('it is FAILED', async () => (await get(caller, uploaded.id)).status === 'FAILED')
  const { summary } = await report(caller, uploaded.id)
  expect(summary.errors).toEqual([
    {
      ...{ row: 1, column: '', code: 'unprocessable', value: null },
      message: 'gave up after 10 minutes: orders does not answer',
    },
  ])
})
