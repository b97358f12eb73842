import { randomUUID } from 'node:crypto'
import { ACTIONS, GRANTS, RESOURCES, type Scope } from '@backoffice/contracts/scopes.ts'
import { eventually } from '@backoffice/testing/eventually.ts'
import { startReceiver } from '@backoffice/testing/receiver.ts'
import { describe, expect, it } from 'vitest'
import { apiWith } from './testing/api.ts'
import { examplePaths } from './testing/example-ids.ts'
import { fullWorkspace } from './testing/full-workspace.ts'
import { sampleOf } from './testing/schema-sample.ts'
import { sharedStack } from './testing/stack.ts'
import { newWorkspace } from './testing/workspaces.ts'

interface Entry {
  readonly 'x-required-scope'?: Scope
  readonly requestBody?: { readonly content: Readonly<Record<string, { readonly schema: object }>> }
}

const ANSWER_WITHIN_MS = 10_000

const stack = await sharedStack()
const { gateway, admin_token } = stack.description()
const document = (await (await fetch(`${gateway}/openapi.json`)).json()) as {
  paths: Record<string, Record<string, Entry>>
}
const operations = Object.entries(document.paths).flatMap(([path, item]) =>
  Object.entries(item).map(([method, entry]) => ({
    name: `${method.toUpperCase()} ${path}`,
    method: method.toUpperCase(),
    template: path,
    entry,
  })),
)

const receiver = await startReceiver()
const mine = await fullWorkspace(stack, receiver.url)
const theirs = await newWorkspace(stack.description())
const exampleOf = examplePaths(mine.api, theirs.api)

const admin = apiWith(gateway, admin_token)
const issued = new Map<string, Promise<string>>()

/** A key of the first workspace with these scopes. */
function keyWith(scopes: readonly string[]): Promise<string> {
  const name = scopes.join(' ').slice(0, 255)
  const issue = async () => {
    const { body } = await admin<{ key: string }>('POST', `/admin/v1/workspaces/${mine.id}/keys`, { name, scopes })
    return body.key
  }
  const key = issued.get(scopes.join()) ?? issue()
  issued.set(scopes.join(), key)
  return key
}

/** Sends a request and reads its answer as text. Of a successful stream of events, the head alone. */
async function send(key: string | undefined, method: string, path: string, body?: string) {
  const response = await fetch(new URL(path, gateway), {
    method,
    headers: {
      ...(key !== undefined && { authorization: `Bearer ${key}` }),
      ...(body !== undefined && { 'content-type': 'application/json' }),
    },
    ...(body !== undefined && { body }),
    signal: AbortSignal.timeout(ANSWER_WITHIN_MS),
  })
  if (response.headers.get('content-type')?.startsWith('text/event-stream')) {
    await response.body?.cancel()
    return { status: response.status, text: '' }
  }
  return { status: response.status, text: await response.text() }
}

/** A refusal for want of rights, and an answer that says nothing of them, with its code: `403 insufficient_scope`. */
const outcomeOf = ({ status, text }: Awaited<ReturnType<typeof send>>) =>
  [401, 403, 429].includes(status) || status >= 500 ? `${status} ${JSON.parse(text).error.code}` : 'let in'

/** Every grant that does not cover the scope: all other resources, and the other actions of its own. */
function allBut(scope: Scope): string[] {
  const resource = scope.slice(0, scope.indexOf('::'))
  const others = RESOURCES.filter((one) => one !== resource)
  return [...others, ...ACTIONS.map((action) => `${resource}::${action}`).filter((grant) => grant !== scope)]
}

/** They do not stand still: one goes on for as long as it is read, the other counts these requests. */
const MOVING = /\/progress$|^\/v1\/usage$/

/** What a workspace can read of itself. */
async function everythingOf(key: string): Promise<Record<string, string>> {
  const reads = operations.filter(({ method, template }) => method === 'GET' && !MOVING.test(template))
  const answers = reads.map(async ({ template }) => {
    const { path } = await exampleOf(template)
    const { status, text } = await send(key, 'GET', path)
    return [template, status === 200 ? text : String(status)] as const
  })
  return Object.fromEntries(await Promise.all(answers))
}

const before = await everythingOf(mine.key)
const mineOnly = new Set(JSON.stringify(before).match(/[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}/g))

/** For every key (OP-271). */
const WITHOUT_SCOPE = ['GET /v1/me']

it('every operation names the scope that it needs, but those for every key', () => {
  expect(operations.length).toBeGreaterThan(50)
  expect(
    operations.filter(({ entry }) => !GRANTS.includes(entry['x-required-scope'] ?? '')).map(({ name }) => name),
  ).toEqual(WITHOUT_SCOPE)
})

describe.each(operations.map((one) => [one.name, one] as const))('%s', (name, { method, template, entry }) => {
  const scope = entry['x-required-scope'] ?? 'product::read'
  const resource = scope.slice(0, scope.indexOf('::'))
  const isForAll = WITHOUT_SCOPE.includes(name)

  it('lets in exactly the keys with its scope', async () => {
    // A read has the ids of what is there. A write has ids of nothing, and no JSON: it is refused after its scope is
    // checked.
    const isRead = method === 'GET'
    const path = isRead ? (await exampleOf(template)).path : template.replaceAll(/\{\w+\}/g, randomUUID())
    const body = method === 'POST' || method === 'PUT' ? '{' : undefined
    const outcome = async (...scopes: string[]) => outcomeOf(await send(await keyWith(scopes), method, path, body))
    const outcomes = await Promise.all([
      send(undefined, method, path, body).then(outcomeOf),
      outcome(...allBut(scope)),
      outcome(`${resource}::read`),
      outcome(scope),
      outcome(resource),
      outcome('*'),
    ])
    const [noKey, allOthers, read, exact, bare, all] = outcomes
    expect({ noKey, allOthers, read, exact, bare, all }).toEqual({
      noKey: '401 invalid_api_key',
      allOthers: isForAll ? 'let in' : '403 insufficient_scope',
      read: scope.endsWith('::read') ? 'let in' : '403 insufficient_scope',
      exact: 'let in',
      bare: 'let in',
      all: 'let in',
    })
  })

  it("shows and changes nothing of this workspace to another workspace's full key", async () => {
    const { path, isItsOwn } = await exampleOf(template)
    const schema = entry.requestBody?.content['application/json']?.schema
    // With ids of this workspace the request is whole. A write without any would only make something in the other
    // workspace.
    const valid = schema && JSON.stringify(sampleOf(schema, document))
    const answer = await send(theirs.key, method, path, isItsOwn || method === 'GET' ? valid : '{')
    if (isItsOwn) expect(`${answer.status} ${answer.text}`).toMatch(/^404 /)
    else expect(outcomeOf(answer)).toBe('let in')
    const named = template === path ? [] : path.split(/[/.]/)
    expect([...mineOnly].filter((id) => answer.text.includes(id) && !named.includes(id))).toEqual([])
  })
})

it('after all that, the workspace is as it was', async () => {
  expect(await everythingOf(mine.key)).toEqual(before)
})

it('what the workspace uses is counted by the services that know it (OP-272)', async () => {
  await eventually('all is counted, and the requests above are written', async () => {
    const { status, text } = await send(mine.key, 'GET', '/v1/usage')
    expect(status).toBe(200)
    const { days, stored_bytes, webhook_endpoints } = JSON.parse(text)
    const sums = ['requests', 'events', 'deliveries'].map((name) => Math.max(...days.map((day: never) => day[name])))
    return [stored_bytes.imports, webhook_endpoints, ...sums].every((count) => count > 0)
  })
})

it('its limits are told by the services that hold them, with what there is of each (OP-297)', async () => {
  const { status, text } = await send(mine.key, 'GET', '/v1/limits')
  const { limits, unanswered } = JSON.parse(text)
  expect([status, unanswered]).toEqual([200, []])
  expect(Object.fromEntries(limits.map(({ name, used, most }: Record<string, never>) => [name, [used, most]]))).toEqual(
    {
      requests_per_minute: [null, expect.any(Number)],
      requests_at_once: [null, expect.any(Number)],
      asset_bytes: [expect.any(Number), 20_000_000_000],
      import_bytes: [expect.any(Number), 20_000_000_000],
      imports_to_validate: [0, 100],
      imports_to_apply: [0, 100],
      webhook_endpoints: [expect.any(Number), 500],
      webhook_endpoints_of_an_app: [expect.any(Number), 20],
    },
  )
})
