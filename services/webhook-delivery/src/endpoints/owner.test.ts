import { randomUUID } from 'node:crypto'
import { exampleOf } from '@backoffice/contracts/named.ts'
import type { Caller } from '@backoffice/http/internal-token.ts'
import { aCaller } from '@backoffice/testing/caller.ts'
import { eventually } from '@backoffice/testing/eventually.ts'
import { startReceiver } from '@backoffice/testing/receiver.ts'
import { describe, expect, test } from 'vitest'
import {
  anEvent,
  type CreatedEndpoint,
  MOST_ENDPOINTS,
  testedOperations,
  webhookDelivery,
} from '../testing/webhooks-api.ts'

const { send, admin, createEndpointAt, startReplica, takeStatements } = await webhookDelivery()
const receiver = await startReceiver()
const url = 'https://example.com/hook'
const valid = { url, enabled_events: ['*'] }
const secret = `whsec_${Buffer.alloc(32, 1).toString('base64')}`
/** An app has this many endpoints in a workspace that may have 500. */
const MOST_OF_AN_APP = 20

/** An app that is installed in a caller's workspace, with its key. */
function anApp({ workspaceId }: Caller, provider = `app-${randomUUID()}`) {
  const [installation, keyId] = [randomUUID(), randomUUID()]
  const service = aCaller({ workspaceId, scopes: [] })
  const ask = async (method: 'PUT' | 'POST', path: string, body: unknown) =>
    expect((await send(service, method, `/internal/${path}`, body)).status).toBe(204)
  return {
    provider,
    keyId,
    caller: aCaller({ workspaceId, keyId, appKeyId: keyId }),
    /** A key of the app that an operator has rotated. */
    rotated: aCaller({ workspaceId, keyId: randomUUID(), appKeyId: keyId }),
    putEndpoint: async (id = randomUUID()) => {
      await ask('PUT', `endpoints/${id}`, { ...valid, secret, description: null })
      return id
    },
    register: (key = keyId, endpoint: string | null = null) =>
      ask('PUT', `app-keys/${key}`, { installation, provider, endpoint }),
    end: (keys = [keyId]) => ask('POST', `app-installations/${installation}/end`, { provider, keys }),
    change: (what: 'suspend' | 'resume', at = new Date()) =>
      ask('POST', `app-installations/${installation}/${what}`, { provider, at: at.toISOString() }),
  }
}

async function installed(merchant: Caller) {
  const app = anApp(merchant)
  await app.register()
  return app
}

const endpointsOf = async ({ workspaceId }: Caller) =>
  (await admin<{ id: string }[]>`select id from endpoint where workspace_id = ${workspaceId} order by id`).map(
    ({ id }) => id,
  )
const appOf = async (merchant: Caller, id: string) =>
  (await send<{ app: string | null }>(merchant, 'GET', `/v1/webhooks/${id}/status`)).body.app

describe('whose an endpoint is', () => {
  test('its status names the app that has made it, and none for one of the workspace', async () => {
    const merchant = aCaller()
    const app = await installed(merchant)
    const own = await createEndpointAt(app.caller, url)
    expect(await appOf(merchant, own.id)).toBe(app.provider)
    expect(await appOf(merchant, (await createEndpointAt(app.rotated, url)).id)).toBe(app.provider)
    expect(await appOf(merchant, (await createEndpointAt(merchant, url)).id)).toBe(null)
    expect(own).not.toHaveProperty('app')
    const foreign = await send(aCaller(), 'GET', `/v1/webhooks/${own.id}/status`)
    expect(foreign).toMatchObject({ status: 404, body: { error: { code: 'not_found' } } })
  })

  test("the endpoint of its manifest is the app's once its key is registered", async () => {
    const merchant = aCaller()
    const app = anApp(merchant)
    const id = await app.putEndpoint()
    expect(await appOf(merchant, id)).toBe(null)
    await app.register(app.keyId, id)
    expect(await appOf(merchant, id)).toBe(app.provider)
  })

  test("what a key has made before it was registered is the app's, too", async () => {
    const merchant = aCaller()
    const app = anApp(merchant)
    const { id } = await createEndpointAt(app.caller, url)
    await app.register()
    expect(await appOf(merchant, id)).toBe(app.provider)
  })

  test("a registration does not make an endpoint of somebody else the app's", async () => {
    const merchant = aCaller()
    const [app, other] = [await installed(merchant), anApp(merchant)]
    const { id } = await createEndpointAt(app.caller, url)
    await other.register(other.keyId, id)
    expect(await appOf(merchant, id)).toBe(app.provider)
  })
})

describe("an app's key", () => {
  const refusal = {
    status: 403,
    body: {
      error: {
        code: 'insufficient_scope',
        message: "id: is not an endpoint of this app; an app's key changes those of its app only",
      },
    },
  }
  /** Each operation that changes an endpoint or shows its secret, or sends something to it. */
  const writes = testedOperations.filter(({ method, path }) => method !== 'GET' && path.startsWith('/v1/webhooks/{id}'))
  const use = (caller: Caller, id: string, { method, path, body }: (typeof writes)[number]) =>
    send(caller, method, path.replace('{id}', id).replace('{delivery_id}', randomUUID()), body && exampleOf(body))

  test('there are operations on an endpoint', () => {
    expect(writes.length).toBeGreaterThanOrEqual(9)
  })

  test.each(writes.map((write) => [`${write.method} ${write.path}`, write] as const))(
    "%s: is for endpoints of its app only, not for another app's or the workspace's",
    async (_, write) => {
      const merchant = aCaller()
      const [app, other] = [await installed(merchant), await installed(merchant)]
      const foreign = [await createEndpointAt(other.caller, url), await createEndpointAt(merchant, url)]
      for (const { id } of foreign) expect(await use(app.caller, id, write)).toMatchObject(refusal)
      expect(await endpointsOf(merchant)).toEqual(foreign.map(({ id }) => id).sort())
      const own = await createEndpointAt(app.caller, url)
      for (const caller of [app.caller, app.rotated, merchant])
        expect([200, 202, 204, 404, 409]).toContain((await use(caller, own.id, write)).status)
    },
  )

  test('may change the endpoints of the key before, once both are registered', async () => {
    const merchant = aCaller()
    const app = await installed(merchant)
    const { id } = await createEndpointAt(app.caller, url)
    const newer = randomUUID()
    const caller = aCaller({ workspaceId: merchant.workspaceId, keyId: newer, appKeyId: newer })
    expect(await send(caller, 'POST', `/v1/webhooks/${id}/secret/rotate`)).toMatchObject(refusal)
    await app.register(newer)
    expect((await send(caller, 'POST', `/v1/webhooks/${id}/secret/rotate`)).status).toBe(200)
  })

  test('hears that an endpoint is not its own also where the target is forbidden', async () => {
    const merchant = aCaller()
    const app = await installed(merchant)
    const { id } = await createEndpointAt(merchant, url)
    const body = { url: 'https://10.0.0.1/hook' }
    expect(await send(app.caller, 'PUT', `/v1/webhooks/${id}`, body)).toMatchObject(refusal)
  })

  test('of another workspace has nothing here', async () => {
    const app = await installed(aCaller())
    const { id } = await createEndpointAt(aCaller(), url)
    expect((await send(app.caller, 'DELETE', `/v1/webhooks/${id}`)).status).toBe(404)
  })
})

describe('the endpoints of apps', () => {
  const fill = async (caller: Caller, count: number) => {
    const { id } = await createEndpointAt(caller, url)
    await admin`
      insert into endpoint (
        workspace_id, id, url, enabled_events, secret_key_id, sealed_secret, created_at, updated_at, made_by
      )
      select workspace_id, uuidv7(), url, enabled_events, secret_key_id, sealed_secret, created_at, updated_at, made_by
      from endpoint cross join generate_series(2, ${count}::integer) where id = ${id}`
  }

  test('do not count among those of the workspace, and the other way round', async () => {
    const merchant = aCaller()
    const app = await installed(merchant)
    await fill(app.caller, MOST_OF_AN_APP)
    await fill(merchant, MOST_ENDPOINTS)
    await app.putEndpoint()
    const another = await installed(merchant)
    expect((await send(another.caller, 'POST', '/v1/webhooks', valid)).status).toBe(201)
    takeStatements()
    // Nobody has registered yet whose the endpoint of the manifest is.
    expect((await send(merchant, 'GET', '/internal/limits')).body).toEqual({
      limits: [
        { name: 'webhook_endpoints', used: MOST_ENDPOINTS + 1, most: MOST_ENDPOINTS },
        { name: 'webhook_endpoints_of_an_app', used: MOST_OF_AN_APP, most: MOST_OF_AN_APP },
      ],
    })
    expect(takeStatements().filter((text) => text.includes('from endpoint'))).toHaveLength(1)
  })

  test('are at most 20 of an app; one more is conflict, also of many at once', async () => {
    const merchant = aCaller()
    const app = await installed(merchant)
    await fill(app.caller, MOST_OF_AN_APP - 1)
    const answers = await Promise.all(Array.from({ length: 6 }, () => send(app.caller, 'POST', '/v1/webhooks', valid)))
    expect(answers.map(({ status }) => status).sort()).toEqual([201, ...Array(5).fill(409)])
    const message = `the app ${app.provider} has 20 webhook endpoints, and may have no more; delete one first`
    expect(answers.find(({ status }) => status === 409)?.body).toMatchObject({ error: { code: 'conflict', message } })
    expect((await send(merchant, 'POST', '/v1/webhooks', valid)).status).toBe(201)
  })
})

describe('the end of an installation', () => {
  test('deletes what all keys of the app have made, registered or not, and nothing else', async () => {
    const merchant = aCaller()
    const [app, other] = [anApp(merchant), await installed(merchant)]
    const kept = [await createEndpointAt(merchant, url), await createEndpointAt(other.caller, url)]
    await createEndpointAt(app.caller, url)
    const former = randomUUID()
    await app.register(former, await app.putEndpoint())
    await createEndpointAt(aCaller({ workspaceId: merchant.workspaceId, keyId: former, appKeyId: former }), url)
    await app.end()
    expect(await endpointsOf(merchant)).toEqual(kept.map(({ id }) => id).sort())
    await app.end()
    expect(await endpointsOf(merchant)).toEqual(kept.map(({ id }) => id).sort())
  })

  test('lets no key of the app make another endpoint, and a registration that comes late changes nothing', async () => {
    const merchant = aCaller()
    const app = anApp(merchant)
    await app.end()
    await app.register()
    for (const caller of [app.caller, app.rotated])
      expect(await send(caller, 'POST', '/v1/webhooks', valid)).toMatchObject({
        status: 401,
        body: {
          error: { code: 'invalid_api_key', message: `The app ${app.provider} of this API key has been uninstalled` },
        },
      })
    expect(await endpointsOf(merchant)).toEqual([])
    expect((await send(merchant, 'POST', '/v1/webhooks', valid)).status).toBe(201)
  })

  test('leaves no endpoint that is made at the same moment', async () => {
    for (let round = 0; round < 10; round++) {
      const merchant = aCaller()
      const app = await installed(merchant)
      const create = () => send<CreatedEndpoint>(app.caller, 'POST', '/v1/webhooks', valid)
      const made = Array.from({ length: 4 }, create)
      await Promise.all([...made, app.end(), create(), create()])
      expect(await endpointsOf(merchant)).toEqual([])
    }
  })

  test('sends nothing more', async () => {
    const merchant = aCaller()
    const app = await installed(merchant)
    await createEndpointAt(app.caller, `${receiver.url}/ended`)
    await createEndpointAt(merchant, `${receiver.url}/stays`)
    const { publish } = await startReplica()
    await app.end()
    await publish(anEvent(merchant))
    await eventually('it arrives', () => receiver.requests.some(({ path }) => path === '/stays'))
    expect(receiver.requests.filter(({ path }) => path === '/ended')).toEqual([])
  })
})

describe('a suspended app', () => {
  test('gets nothing, and what has waited once it is resumed; others get theirs', async () => {
    const merchant = aCaller()
    const app = await installed(merchant)
    await createEndpointAt(app.caller, `${receiver.url}/waits`)
    await createEndpointAt(merchant, `${receiver.url}/beside`)
    const { publish } = await startReplica()
    const [first, second] = [new Date('2026-03-01'), new Date('2026-03-02')]
    await app.change('suspend', second)
    await app.change('resume', first)
    const event = anEvent(merchant)
    await publish(event)
    await eventually('the other gets it', () => receiver.requests.some(({ path }) => path === '/beside'))
    expect(receiver.requests.filter(({ path }) => path === '/waits')).toEqual([])
    await app.change('resume', new Date('2026-03-03'))
    await app.change('suspend', second)
    const { headers } = await eventually('it arrives', () => receiver.requests.find(({ path }) => path === '/waits'))
    expect(headers['webhook-id']).toBe(event.id)
  })
})
