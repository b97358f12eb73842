import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import type { ServerResponse } from 'node:http'
import type { AppDraft } from '@backoffice/contracts/app.ts'
import { eventually } from '@backoffice/testing/eventually.ts'
import { type ReceivedSpan, startTraceReceiver } from '@backoffice/testing/trace-receiver.ts'
import { createRemoteJWKSet, importSPKI, jwtVerify } from 'jose'
import { Webhook } from 'standardwebhooks'
import { describe, expect, test } from 'vitest'
import { appsService } from '../testing/apps-service.ts'
import { type PartnerApp, type PlatformRequest, partnerApp } from '../testing/partner-app.ts'

const traces = await startTraceReceiver()
const platform = await appsService({
  APP_RETRY_DELAYS: '100ms',
  APP_ANSWER_TIMEOUT: '4s',
  OTEL_EXPORTER_OTLP_ENDPOINT: traces.url,
})
const { admin, anApp, aWorkspace, consented, inState, installation, keys, endpoints, purged } = platform
const appsSql = platform.sqlOf('apps')
const WEBHOOKS = { path: '/hooks/platform', events: ['order.paid', 'product.created'] }
const UPGRADE = { scopes: ['app', 'sale'] }

const provisions = (app: PartnerApp) => app.requests('/install/provision')
const uninstalls = (app: PartnerApp) => app.requests('/install/uninstall')
const keyIn = (request: PlatformRequest | undefined) => String(request?.body.apiKey)
const statusWith = async (key: string) => (await platform.send(key, 'GET', '/v1/apps')).status
const attempts = (app: PartnerApp, count: number) =>
  eventually(`${count} attempts`, () => provisions(app).length >= count && provisions(app))
const expire = (id: string) => appsSql`
  update call set expires_at = clock_timestamp() - interval '1 second', due_at = clock_timestamp() where installation_id = ${id}`

/** An app, ACTIVE in a workspace. */
async function active(differences: Parameters<typeof anApp>[0] = {}) {
  const app = await anApp(differences)
  const { id, workspace } = await consented(app)
  await inState(id, 'ACTIVE')
  return { app, id, workspace }
}

/** Changes the manifest of an app and consents to that. */
async function upgrade(
  { app, id, workspace }: Awaited<ReturnType<typeof active>>,
  change: Parameters<typeof anApp>[0],
) {
  await admin('PUT', `/apps/${app.id}`, { manifest: { ...app.manifest, ...change } })
  await admin('POST', `/workspaces/${workspace}/installations`, { provider: app.provider })
  await admin('POST', `/installations/${id}/consent`)
}

describe('a provision', () => {
  test('delivers exactly the key, which works once the app has answered, and the installation is ACTIVE', async () => {
    const app = await anApp({ scopes: ['app::read', 'sale'] })
    let statusBefore = 0
    app.answerWith(async (response, { body }) => {
      statusBefore = await statusWith(JSON.parse(String(body)).apiKey)
      response.writeHead(204).end()
    })
    const { id, workspace } = await consented(app)
    const done = await inState(id, 'ACTIVE')
    expect(done).toMatchObject({ scopes: ['app::read', 'sale'], last_error: null, activated_at: expect.any(String) })
    const [request, ...others] = provisions(app)
    expect(others).toEqual([])
    expect(request?.body).toEqual({ apiKey: expect.stringMatching(/^sk_live_/) })
    expect(statusBefore).toBe(401)
    expect(await statusWith(keyIn(request))).toBe(200)
    expect(await keys(workspace)).toMatchObject([
      { scopes: ['app::read', 'sale'], is_activated: true, is_revoked: false },
    ])
    expect(await endpoints(workspace)).toEqual([])
  })

  test('with webhooks delivers the key and the secret of an endpoint at the declared path, with the declared events', async () => {
    const { app, workspace } = await active({ webhooks: WEBHOOKS })
    expect(provisions(app)).toMatchObject([
      { body: { apiKey: expect.any(String), webhookSecret: expect.stringMatching(/^whsec_[\w+/]{43}=$/) } },
    ])
    expect(Object.keys(provisions(app)[0]?.body ?? {})).toEqual(['apiKey', 'webhookSecret'])
    expect(await endpoints(workspace)).toMatchObject([
      { url: `${app.origin}/hooks/platform`, enabled_events: WEBHOOKS.events },
    ])
  })

  test('with {workspace} in the path of the webhooks makes an endpoint whose URL names the workspace (OP-196)', async () => {
    const { app, workspace } = await active({ webhooks: { ...WEBHOOKS, path: '/{workspace}/hooks' } })
    expect(await endpoints(workspace)).toMatchObject([{ url: `${app.origin}/${workspace}/hooks` }])
  })

  test('is a trace of its own with a link to the consent, without what is secret, and the app gets no header of it', async () => {
    const { app, id } = await active()
    const find = (name: string, service: string, fits: (span: ReceivedSpan) => boolean) =>
      eventually(`the span ${name}`, () =>
        traces.spans().find((span) => span.name === name && span.resource['service.name'] === service && fits(span)),
      )
    const call = await find('app call', 'apps', (span) => span.attributes['backoffice.installation_id'] === id)
    expect(call.attributes).toMatchObject({ 'backoffice.app_call': 'provision', 'backoffice.attempt': 1 })
    const consent = await find('POST /internal/installations/:id/consent', 'apps', ({ spanId }) =>
      call.links.some((link) => link.spanId === spanId),
    )
    expect(call.traceId).not.toBe(consent.traceId)
    const below = (span: ReceivedSpan) => span.traceId === call.traceId && span.parentSpanId === call.spanId
    expect(await find('POST app', 'apps', below)).toMatchObject({
      kind: 3,
      attributes: { 'server.address': '127.0.0.1', 'http.response.status_code': 204 },
    })
    const minting = await find('PUT gateway', 'apps', below)
    await find('PUT /internal/app-keys/:id', 'gateway', ({ parentSpanId }) => parentSpanId === minting.spanId)

    const [request] = provisions(app)
    expect(request?.headers).not.toHaveProperty('traceparent')
    const sent = JSON.stringify(traces.spans())
    for (const secret of [keyIn(request), String(request?.token), '/install/']) expect(sent).not.toContain(secret)
  })

  test.each([undefined, 'https://aud.example'])(
    'carries a token with the claims of OP-82, for the audience %s',
    async (audience) => {
      const { app, workspace } = await active(audience ? { audience } : {})
      const [request] = provisions(app)
      const known = createRemoteJWKSet(new URL(`${platform.urlOf('gateway')}/.well-known/jwks.json`))
      const verified = await jwtVerify(request?.token ?? '', known, { audience: audience ?? app.provider })
      expect(verified.protectedHeader).toEqual({ alg: 'EdDSA', kid: 'first', typ: 'JWT' })
      const { iat = 0, ...claims } = verified.payload
      expect(claims).toEqual({
        iss: 'https://platform.test',
        aud: audience ?? app.provider,
        exp: iat + 300,
        wid: workspace,
        purpose: 'provision',
        provider: app.provider,
        scopes: app.manifest.scopes,
        jti: expect.stringMatching(/^[0-9a-f-]{36}$/),
      })
    },
  )

  test('that gets 500 five times is repeated with the same key and secret and a fresh jti', async () => {
    const app = await anApp({ webhooks: WEBHOOKS })
    let failures = 0
    app.answerWith((response) => response.writeHead(failures++ < 5 ? 500 : 200).end())
    const { id, workspace } = await consented(app)
    await inState(id, 'ACTIVE')
    const made = provisions(app)
    expect(made).toHaveLength(6)
    expect(new Set(made.map(({ body }) => JSON.stringify(body))).size).toBe(1)
    expect(new Set(made.map(({ claims }) => claims.jti)).size).toBe(6)
    expect(await keys(workspace)).toHaveLength(1)
    expect(await endpoints(workspace)).toHaveLength(1)
  })

  const hang = () => undefined
  const headThenHang = (response: ServerResponse) => void response.writeHead(200).write('{')
  const redirect = (response: ServerResponse) => response.writeHead(307, { location: '/elsewhere' }).end()
  const breakOff = (response: ServerResponse) => response.destroy()
  test.each<[string, (response: ServerResponse) => void, string]>([
    ['is silent', hang, 'no response within 4000 ms'],
    ['sends half an answer', headThenHang, 'no complete response within 4000 ms'],
    ['redirects', redirect, 'answered 307: redirects are not followed'],
    ['refuses', (response) => response.writeHead(401).end('<secret>'), 'answered 401'],
    ['breaks off', breakOff, 'the connection broke off'],
  ])('of an app that %s fails with a reason, and is repeated', async (_, answer, reason) => {
    const app = await anApp()
    app.answerWith(answer)
    const { id } = await consented(app)
    const { state, last_error } = await eventually('there is a reason', async () => {
      const found = await installation(id)
      return found.last_error !== null && found
    })
    expect(state).toBe('PENDING')
    expect(last_error).toContain(`/install/provision: ${reason}`)
    expect(last_error).not.toContain('<secret>')
    expect(app.requests('/elsewhere')).toEqual([])
    app.answer(200)
    expect((await inState(id, 'ACTIVE')).last_error).toBeNull()
  })

  test('of an app that is away is made once it is back', async () => {
    const app = await anApp()
    const nobody = 'http://127.0.0.1:9'
    await admin('PUT', `/apps/${app.id}`, { origin: nobody, manifest: app.manifest })
    const { id } = await consented(app)
    await eventually('it was refused', async () => (await installation(id)).last_error !== null)
    await admin('PUT', `/apps/${app.id}`, { origin: app.origin, manifest: app.manifest })
    await inState(id, 'ACTIVE')
  })

  test('of an app whose host is not public by now, with webhooks, has failed for a reason of the app', async () => {
    const app = await anApp({ webhooks: WEBHOOKS })
    await appsSql`update app set origin = 'https://10.0.0.1' where id = ${app.id}`
    const { id } = await consented(app)
    const isLogged = (line: string) => line.includes(id) && line.includes('call failed')
    const line = await eventually('it has failed', () => platform.output('apps').split('\n').find(isLogged))
    expect(line).toContain('"outcome":"app_failed"')
    expect(line).toContain('10.0.0.1 is not a public address')
    await admin('DELETE', `/installations/${id}`)
  })

  test('is acknowledged by any 2xx; an answer without end is not read, and takes no memory', async () => {
    const rss = () => Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${platform.pid('apps')}/status`, 'utf8'))?.[1])
    const before = rss()
    const app = await anApp()
    let sent = 0
    const chunk = Buffer.alloc(1024 * 1024, 'x')
    app.answerWith(async (response) => {
      response.writeHead(200).on('error', () => undefined)
      while (!response.destroyed && sent < 1024) {
        sent++
        if (!response.write(chunk)) await Promise.race([once(response, 'drain'), once(response, 'close')])
      }
    })
    const all = await Promise.all(Array.from({ length: 4 }, () => consented(app)))
    for (const { id } of all) await inState(id, 'ACTIVE')
    expect(sent).toBeLessThan(256)
    expect(rss() - before).toBeLessThan(64 * 1024)
    const other = await anApp()
    other.answerWith((response) => response.writeHead(202).end('<html>\u0000 not JSON'))
    await inState((await consented(other)).id, 'ACTIVE')
  })
})

test('a draft gets a key of its sandbox under its own names, without an operator, until it is deleted (OP-286)', async () => {
  const { body: shop } = await admin<{ id: string; sandbox: { id: string } }>('POST', '/workspaces', {
    name: 'Shop',
    sandbox: true,
  })
  const sandbox = shop.sandbox.id
  const asked = { name: 'Partner', scopes: ['app', 'product::read'] }
  const { body: issued } = await admin<{ key: string }>('POST', `/workspaces/${sandbox}/keys`, asked)
  const send = (method: string, path: string, body?: unknown) =>
    platform.send<AppDraft>(issued.key, method, `/v1/sandbox/apps${path}`, body)
  const app = await partnerApp()
  const registration = { origin: app.origin, manifest: app.manifest }
  const { body: draft } = await send('POST', '', registration)
  expect((await send('POST', `/${draft.id}/install`, { scopes: draft.scopes })).status).toBe(202)
  const read = async () => (await send('GET', `/${draft.id}`)).body.installation?.state
  await eventually('the draft is installed', async () => (await read()) === 'ACTIVE')
  const [request] = provisions(app)
  const { provider } = draft
  expect(provider).toBe(`draft-${shop.id.slice(-12)}-${app.provider}`)
  expect(request?.claims).toMatchObject({ aud: provider, provider, wid: sandbox, scopes: draft.scopes })
  expect(keyIn(request)).toMatch(/^sk_test_/)
  expect(await statusWith(keyIn(request))).toBe(200)
  const byApp = await platform.send(keyIn(request), 'POST', '/v1/sandbox/apps', registration)
  expect(byApp.status).toBe(403)

  expect((await send('DELETE', `/${draft.id}`)).status).toBe(204)
  await eventually('its key is refused', async () => (await statusWith(keyIn(request))) === 401)
  await eventually('the app has been told, and the name is free', async () => {
    const { status } = await send('POST', '', registration)
    return status === 201
  })
  expect(app.requests('/install/uninstall')).toHaveLength(1)

  await admin('DELETE', `/workspaces/${shop.id}`)
  await eventually('the draft goes with its sandbox', async () => {
    const left = await appsSql`select from app where sandbox_id = ${sandbox}`
    return left.length === 0
  })
  expect(await appsSql`select from app_name where name = ${provider}`).toEqual([])
})

describe('once acknowledged', () => {
  test('the secrets are gone from the database, and neither they nor the tokens are in any log or row', async () => {
    const { app, id } = await active({ webhooks: WEBHOOKS })
    expect(await appsSql`select from call where installation_id = ${id}`).toHaveLength(0)
    const all = provisions(app)
    const secrets = all.flatMap(({ body, token }) => [body.apiKey, body.webhookSecret, token].map(String))
    const parts = secrets.flatMap((secret) => [secret, secret.slice(-20)])
    // A call is logged after its transaction.
    await eventually('the call is logged', () => platform.output('apps').includes(id))
    const printed = (['apps', 'gateway', 'webhook-delivery'] as const).map(platform.output).join('')
    const stored = JSON.stringify([
      await appsSql`select * from installation`,
      await appsSql`select * from call`,
      await appsSql`select payload from outbox`,
      await appsSql`select * from idempotency_key`,
      await platform.sqlOf('gateway')`select * from audit`,
    ])
    for (const part of parts) {
      expect(printed).not.toContain(part)
      expect(stored).not.toContain(part)
    }
  })

  test('the audit log has every act once', async () => {
    const { id, workspace } = await active()
    await admin('DELETE', `/installations/${id}`)
    await purged(id)
    const expected = [
      'bootstrap installation.created',
      'bootstrap link.created',
      'bootstrap installation.consented',
      'apps installation.activated',
      'bootstrap installation.uninstalled',
      'apps installation.purged',
    ]
    await expect.poll(() => platform.acts(`installations/${id}`), { timeout: 40_000 }).toHaveLength(6)
    expect((await platform.acts(`installations/${id}`)).toSorted()).toEqual(expected.toSorted())
    const actors = await platform.sqlOf('gateway')`
      select distinct actor, who from audit where target = ${`installations/${id}`} order by actor`
    expect(actors.map(({ actor, who }) => [actor, who])).toEqual([
      ['apps', 'system'],
      ['bootstrap', 'operator'],
    ])
    // Published again, as after a kill of the relay before it noted that it had published.
    await appsSql`update outbox set published_at = null where workspace_id = ${workspace}`
    const { id: later } = await active()
    await expect.poll(() => platform.acts(`installations/${later}`), { timeout: 40_000 }).toHaveLength(4)
    expect(await platform.acts(`installations/${id}`)).toHaveLength(6)
  })
})

describe('a provision that is not acknowledged in 24 hours', () => {
  test('ends as FAILED, its key revoked and its endpoint deleted, and the app can be installed again', async () => {
    const app = await anApp({ webhooks: WEBHOOKS })
    app.answer(500)
    const { id, workspace } = await consented(app)
    await attempts(app, 2)
    await expire(id)
    const failed = await inState(id, 'FAILED')
    expect(failed).toMatchObject({ last_error: '/install/provision: answered 500' })
    expect(await keys(workspace)).toMatchObject([{ is_activated: false, is_revoked: true }])
    expect(await endpoints(workspace)).toEqual([])
    const count = provisions(app).length
    await eventually('the app is told, which may have stored the key', () => uninstalls(app).length > 1)
    const { uninstalled_at } = failed
    const body = { workspace, provider: app.provider, reason: 'provision_failed', uninstalled_at }
    expect(uninstalls(app)[0]?.body).toEqual(body)
    // A new installation waits a minute at most for an app that does not take that.
    await appsSql`update call set due_at = due_at + interval '1 hour' where installation_id = ${id}`
    const again = await consented(app, workspace)
    expect(again.id).not.toBe(id)
    const soon = appsSql`
      select from call where installation_id = ${id} and expires_at <= now() + interval '1 minute'`
    expect(await soon).toHaveLength(1)
    app.answer(200)
    await purged(id)
    expect(await installation(id)).toEqual(failed)
    await inState(again.id, 'ACTIVE')
    expect(provisions(app)).toHaveLength(count + 1)
    expect(keyIn(provisions(app).at(-1))).not.toBe(keyIn(provisions(app)[0]))
  })

  test('of an upgrade leaves the app ACTIVE with what it had', async () => {
    const found = await active({ webhooks: WEBHOOKS })
    const { app, id, workspace } = found
    const before = await endpoints(workspace)
    app.answer(500)
    await upgrade(found, UPGRADE)
    await attempts(app, 3)
    await expire(id)
    await purged(id)
    expect(uninstalls(app)).toEqual([])
    expect(await installation(id)).toMatchObject({ state: 'ACTIVE', scopes: app.manifest.scopes })
    expect((await keys(workspace)).map((key) => key.is_revoked)).toEqual([false, true])
    expect(await endpoints(workspace)).toEqual(before)
    expect(await statusWith(keyIn(provisions(app)[0]))).toBe(200)
  })
})

describe('an upgrade', () => {
  test('delivers a new key; the old one works until the app acknowledges, and then no more', async () => {
    const found = await active({ webhooks: WEBHOOKS })
    const { app, id, workspace } = found
    const [first] = await endpoints(workspace)
    app.answer(503)
    await upgrade(found, { ...UPGRADE, webhooks: { path: '/new', events: ['*'] } })
    const [before, after] = await attempts(app, 2)
    expect(await statusWith(keyIn(before))).toBe(200)
    expect(await statusWith(keyIn(after))).toBe(401)
    expect(await installation(id)).toMatchObject({ state: 'ACTIVE', scopes: app.manifest.scopes })
    app.answer(200)
    await purged(id)
    expect(await installation(id)).toMatchObject({ state: 'ACTIVE', scopes: UPGRADE.scopes })
    await expect.poll(() => statusWith(keyIn(before))).toBe(401)
    await expect.poll(() => statusWith(keyIn(after))).toBe(200)
    const now = await endpoints(workspace)
    expect(now).toMatchObject([{ url: `${app.origin}/new`, enabled_events: ['*'] }])
    expect(now[0]?.id).not.toBe(first?.id)
  })

  test('without webhooks deletes the endpoint', async () => {
    const found = await active({ webhooks: WEBHOOKS })
    await upgrade(found, { ...UPGRADE, webhooks: undefined })
    await eventually('it is upgraded', async () => (await installation(found.id)).scopes.includes('sale'))
    expect(await endpoints(found.workspace)).toEqual([])
    expect(provisions(found.app).at(-1)?.body).not.toHaveProperty('webhookSecret')
  })
})

describe('the endpoints of an app', () => {
  const scopes = ['webhook']
  const own = (app: PartnerApp) => ({ url: `${app.origin}/own`, enabled_events: ['*'] })
  const made = async (key: string, app: PartnerApp) =>
    eventually('the key makes an endpoint', async () => {
      const { status, body } = await platform.send<{ id: string }>(key, 'POST', '/v1/webhooks', own(app))
      return status === 201 && body.id
    })
  const appOf = async (key: string, id: string | undefined) =>
    (await platform.send<{ app: string }>(key, 'GET', `/v1/webhooks/${id}/status`)).body.app

  test('are those of its manifest, and those that it makes; after an upgrade they are still', async () => {
    const before = await active({ webhooks: WEBHOOKS, scopes })
    const { app, workspace } = before
    const key = keyIn(provisions(app)[0])
    const id = await made(key, app)
    expect(await appOf(key, (await endpoints(workspace))[0]?.id)).toBe(app.provider)
    expect(await appOf(key, id)).toBe(app.provider)
    await upgrade(before, { scopes: [...scopes, 'sale'] })
    const newer = keyIn((await attempts(app, 2))[1])
    const deleted = await eventually('the new key works', async () => {
      const { status } = await platform.send(newer, 'DELETE', `/v1/webhooks/${id}`)
      return status !== 401 && status
    })
    expect(deleted).toBe(204)
  })

  test('get deliveries that the Standard Webhooks library takes, where the manifest asks for its signature', async () => {
    const webhooks = { ...WEBHOOKS, standard_signature: true }
    const { app, workspace } = await active({ webhooks, scopes })
    expect(
      await appsSql`select manifest -> 'webhooks' as webhooks from installation where workspace_id = ${workspace}`,
    ).toEqual([{ webhooks }])
    const [request] = provisions(app)
    const [endpoint] = await endpoints(workspace)
    app.answer(204)
    await eventually('the key pings', async () => {
      const { status } = await platform.send(keyIn(request), 'POST', `/v1/webhooks/${endpoint?.id}/ping`)
      return status === 202
    })
    const { headers, body } = await eventually('it is pinged', () => app.received(WEBHOOKS.path)[0])
    const names = ['webhook-id', 'webhook-timestamp', 'webhook-signature'] as const
    const signed = Object.fromEntries(names.map((name) => [name, String(headers[name])]))
    const library = new Webhook(String(request?.body.webhookSecret))
    expect(library.verify(body, signed)).toMatchObject({ type: 'webhook.ping' })
    expect(() => library.verify(body.toString().replace('ping', 'pong'), signed)).toThrow('No matching signature')
  })
})

test('an unknown workspace or installation is not_found', async () => {
  const unknown = crypto.randomUUID()
  const { provider } = await anApp()
  expect((await admin('POST', `/workspaces/${unknown}/installations`, { provider })).status).toBe(404)
  expect((await admin('GET', `/workspaces/${unknown}/installations`)).status).toBe(404)
  for (const [method, act] of [
    ['GET', ''],
    ['POST', '/consent'],
    ['POST', '/decline'],
    ['DELETE', ''],
  ] as const) {
    expect((await admin(method, `/installations/${unknown}${act}`)).status).toBe(404)
  }
  const workspace = await aWorkspace()
  const refused = await admin('POST', `/workspaces/${workspace}/installations`, { provider: 'nobody' })
  expect(refused).toMatchObject({ status: 422, body: { error: { message: expect.stringContaining('provider: ') } } })
})

test('the admin API pages through apps and installations, and shows each', async () => {
  const [app, other] = [await anApp(), await anApp()]
  const workspace = await aWorkspace()
  const [first, second] = [await consented(app, workspace), await consented(other, workspace)]
  const path = `/workspaces/${workspace}/installations?limit=1&page=`
  const pageOf = async (page: number) =>
    (await admin<{ items: { id: string }[]; total: number }>('GET', `${path}${page}`)).body
  expect(await pageOf(1)).toMatchObject({ items: [{ id: second.id }], total: 2 })
  expect(await pageOf(2)).toMatchObject({ items: [{ id: first.id, provider: app.provider }] })
  expect((await admin('GET', `${path}0`)).status).toBe(400)
  const apps = await admin<{ items: { id: string }[] }>('GET', '/apps?limit=1')
  expect(apps.body.items).toMatchObject([{ id: other.id, provider: other.provider, version: 1 }])
  expect((await admin('GET', `/apps/${app.id}`)).body).toMatchObject({ id: app.id, origin: app.origin })
  expect((await admin('GET', `/apps/${crypto.randomUUID()}`)).status).toBe(404)
})

test('the PEM of the signing key is served to everybody, with the key that signed', async () => {
  const { app } = await active()
  const response = await fetch(`${platform.urlOf('gateway')}/.well-known/platform.pem`)
  const key = await importSPKI(await response.text(), 'EdDSA')
  await jwtVerify(provisions(app)[0]?.token ?? '', key, { audience: app.provider })
})

test('a process that is stopped breaks its calls off, and the next one makes them at once with the same key', async () => {
  const app = await anApp()
  app.answerWith(() => undefined)
  const { id } = await consented(app)
  await attempts(app, 1)
  expect(await platform.end('apps', 'SIGTERM')).toBe(0)
  const [call] =
    await appsSql`select claim, due_at <= clock_timestamp() as is_due from call where installation_id = ${id}`
  expect(call).toEqual({ claim: null, is_due: true })
  app.answer(200)
  await platform.startAgain('apps')
  expect((await inState(id, 'ACTIVE')).last_error).toBeNull()
  expect(new Set(provisions(app).map(keyIn)).size).toBe(1)
})

test('a call whose secret does not open waits, the others go on, and the key is revoked all the same (OP-107)', async () => {
  const app = await anApp()
  app.answer(500)
  const { id, workspace } = await consented(app)
  await attempts(app, 1)
  await appsSql`update call set sealed_with = 'gone' where installation_id = ${id}`
  await platform.end('apps', 'SIGKILL')
  await platform.startAgain('apps')
  await expect.poll(() => platform.output('apps')).toContain('APP_SECRET_KEYS lacks keys that stored secrets use: gone')
  await active()
  const error = 'the call failed; see the log of apps'
  await eventually('it has failed', async () => (await installation(id)).last_error === error)
  await admin('DELETE', `/installations/${id}`)
  await eventually('the key is revoked', async () => (await keys(workspace)).every((key) => key.is_revoked))
})
