import { execFileSync } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { EVENT_CATALOGUE, EVENT_TYPES, TOPICS } from '@backoffice/contracts/events.ts'
import { decodeRecord } from '@backoffice/messaging/consumers/received-records.ts'
import { registerSchemas } from '@backoffice/messaging/registry/register-schemas.ts'
import { backingServices } from '@backoffice/testing/backing-services.ts'
import type { Received } from '@backoffice/testing/receiver.ts'
import { whenDone } from '@backoffice/testing/when-done.ts'
import { expect, it, vi } from 'vitest'
import { guideBlocks } from './testing/operations-guide.ts'
import { blocks, guide, VECTOR } from './testing/partner-guide.ts'
import { eventOf, isGenuine } from './testing/webhooks.ts'

const document = (name: string) => readFileSync(new URL(`../docs/${name}`, import.meta.url), 'utf8')
const rowsOf = (heading: string) => [
  ...(guide.split(`\n${heading}\n`)[1]?.split(/\n##+ /)[0] ?? '').matchAll(/^\| (.*) \|$/gm),
]

it('has the retry schedule of the specification', () => {
  const delays = rowsOf('### Retries').flatMap(([, row = '']) => row.match(/\| (immediately|\d+ \w+)/)?.[1] ?? [])
  const specified =
    document('api-specification.md')
      .match(/at delays of 0, (.*?) \|/)?.[1]
      ?.split(', ') ?? []
  expect(delays).toEqual(['immediately', ...specified])
})

it('shows a test vector of its own', () => {
  for (const value of Object.values(VECTOR)) expect(guide).toContain(`\`${value}\``)
})

/** The example of the data of each kind of event, by the first of its types. */
const examples = [
  ...document('events.md').matchAll(/^`data` of `([\w.]+)`(?:(?!^`data` of ).)*?^```json\n(.*?)^```$/gms),
].map(([, type = '', data = '']) => [type, JSON.parse(data)] as const)

it('shows an example of each kind of event', () => {
  const kinds = new Set(EVENT_TYPES.map((type) => type.slice(0, type.lastIndexOf('.'))))
  expect(new Set(examples.map(([type]) => type.slice(0, type.lastIndexOf('.'))))).toEqual(kinds)
})

it.each(examples)('shows the data of %s as it is published', (type, data) => {
  const [id, workspace_id] = [randomUUID(), randomUUID()]
  const record = { id, type, workspace_id, livemode: true, occurred_at: '2026-03-01T12:00:00.000Z', data }
  expect(EVENT_CATALOGUE.get(type)?.record.safeParse(record).error?.issues).toBeUndefined()
})

it('shows a request that is genuine, with the members of OP-61', () => {
  const [head = '', body = ''] =
    blocks('http')
      .find((text) => text.includes('Webhook-Id'))
      ?.trim()
      .split('\n\n') ?? []
  const fields = head.split('\n').map((line) => line.split(': ') as [string, string])
  const headers = Object.fromEntries(fields.map(([name, value]) => [name.toLowerCase(), value]))
  const request: Received = { path: '/webhooks', headers, body: Buffer.from(body) }
  expect(Object.keys(eventOf(request))).toEqual(['id', 'type', 'timestamp', 'livemode', 'data'])
  expect(eventOf(request).id).toBe(headers['webhook-id'])
  vi.useFakeTimers({ now: new Date(eventOf(request).timestamp), toFake: ['Date'] })
  whenDone(() => vi.useRealTimers())
  expect(isGenuine(request, VECTOR.secret)).toBe(true)
})

it('shows how a record of platform.events is made and checked with the registry’s own client (OP-58)', async () => {
  const { registryUrl } = backingServices()
  const { record: schema } = EVENT_CATALOGUE.get('expense.updated') ?? expect.fail()
  await registerSchemas(registryUrl, { [TOPICS.platformEvents]: { 'expense.updated': schema } })
  const event = {
    id: randomUUID(),
    type: 'expense.updated',
    workspace_id: randomUUID(),
    livemode: true,
    occurred_at: '2026-03-01T12:00:00.000Z',
    data: { id: randomUUID(), amount: 7 },
  }
  const code = `${guideBlocks('Publish events of other systems', 'js')[0]}
    for (const event of ${JSON.stringify([event, { ...event, id: 'no id' }])}) {
      console.log(await recordOf(event).then((bytes) => bytes.toString('base64'), () => 'refused'))
    }`
  const printed = execFileSync(process.execPath, ['--input-type=module', '--eval', code], {
    cwd: import.meta.dirname,
    env: { ...process.env, SCHEMA_REGISTRY_URL: registryUrl },
    encoding: 'utf8',
  })
  const [made = '', refused] = printed.trim().split('\n')
  expect(decodeRecord(Buffer.from(made, 'base64'))).toEqual(event)
  expect(refused).toBe('refused')
})
