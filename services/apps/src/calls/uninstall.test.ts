import type { ServerResponse } from 'node:http'
import { aCaller, serviceHeadersOf } from '@backoffice/testing/caller.ts'
import { eventually } from '@backoffice/testing/eventually.ts'
import { createRemoteJWKSet, decodeJwt, jwtVerify } from 'jose'
import { describe, expect, test } from 'vitest'
import { appsService } from '../testing/apps-service.ts'
import type { PartnerApp } from '../testing/partner-app.ts'

const platform = await appsService({ APP_RETRY_DELAYS: '100ms', APP_ANSWER_TIMEOUT: '4s' })
const { admin, anApp, consented, inState, installation, keys, endpoints, purged } = platform
const appsSql = platform.sqlOf('apps')
const WEBHOOKS = { path: '/hook', events: ['order.paid'] }

const provisions = (app: PartnerApp) => app.requests('/install/provision')
const uninstalls = (app: PartnerApp) => app.requests('/install/uninstall')
const uninstall = async (id: string) => expect((await admin('DELETE', `/installations/${id}`)).status).toBe(202)
const statusWith = async (key: unknown) => (await platform.send(String(key), 'GET', '/v1/apps')).status

/** Expects that no key of a workspace works and no endpoint is left. */
async function expectNoAccess(workspace: string) {
  expect((await keys(workspace)).filter((key) => !key.is_revoked)).toEqual([])
  expect(await endpoints(workspace)).toEqual([])
}

async function active(differences: Parameters<typeof anApp>[0] = { webhooks: WEBHOOKS }) {
  const app = await anApp(differences)
  const { id, workspace } = await consented(app)
  await inState(id, 'ACTIVE')
  return { app, id, workspace }
}

describe('uninstalling', () => {
  test('revokes the key and deletes the endpoint, and then tells the app with the body of OP-84 and a token', async () => {
    const { app, id, workspace } = await active()
    let found: Promise<void> | undefined
    app.answerWith((response, { path }) => {
      if (path === '/install/uninstall') found = expectNoAccess(workspace)
      response.writeHead(200).end()
    })
    await uninstall(id)
    await purged(id)
    await found
    const [request, ...others] = uninstalls(app)
    expect(others).toEqual([])
    const { uninstalled_at, state } = await installation(id)
    expect(state).toBe('UNINSTALLED')
    expect(request?.body).toEqual({ workspace, provider: app.provider, reason: 'operator', uninstalled_at })
    const known = createRemoteJWKSet(new URL(`${platform.urlOf('gateway')}/.well-known/jwks.json`))
    const { payload } = await jwtVerify(request?.token ?? '', known, { audience: app.provider })
    expect(payload).toMatchObject({ wid: workspace, purpose: 'provision', scopes: app.manifest.scopes })
    expect(payload.jti).not.toBe(provisions(app)[0]?.claims.jti)
    await expect.poll(() => statusWith(provisions(app)[0]?.body.apiKey)).toBe(401)
  })

  test("ends all of the app's endpoints, those that it made with its key too, and none of the merchant's or of another app", async () => {
    const scopes = ['webhook']
    const { app, id, workspace } = await active({ webhooks: WEBHOOKS, scopes })
    const other = await anApp({ webhooks: WEBHOOKS, scopes })
    await inState((await consented(other, workspace)).id, 'ACTIVE')
    const merchant = await platform.admin<{ key: string }>('POST', `/workspaces/${workspace}/keys`, {
      name: 'm',
      scopes,
    })
    const create = async (key: unknown, path: string) => {
      const endpoint = { url: `${app.origin}${path}`, enabled_events: ['*'] }
      return (await platform.send<{ id: string }>(String(key), 'POST', '/v1/webhooks', endpoint)).status
    }
    const keyOf = (of: PartnerApp) => provisions(of)[0]?.body.apiKey
    await eventually('the key works', async () => (await create(keyOf(app), '/own')) === 201)
    await eventually('the key works', async () => (await create(keyOf(other), '/others')) === 201)
    expect(await create(merchant.body.key, '/merchants')).toBe(201)
    await uninstall(id)
    await purged(id)
    const left = (await endpoints(workspace)).map(({ url }) => new URL(url).pathname)
    expect(left.sort()).toEqual(['/hook', '/merchants', '/others'])
  })

  test('that webhook-delivery does not answer is repeated, and then ends all endpoints', async () => {
    const { app, id, workspace } = await active({ webhooks: WEBHOOKS, scopes: ['webhook'] })
    const key = String(provisions(app)[0]?.body.apiKey)
    const endpoint = { url: `${app.origin}/own`, enabled_events: ['*'] }
    await eventually(
      'the key works',
      async () => (await platform.send(key, 'POST', '/v1/webhooks', endpoint)).status === 201,
    )
    await platform.sqlOf('webhook-delivery').unsafe('alter table app_installation rename to away')
    await uninstall(id)
    await eventually('its key is revoked', async () => (await keys(workspace)).every((key) => key.is_revoked))
    await eventually('its call fails', async () => (await installation(id)).last_error !== null)
    expect((await endpoints(workspace)).length).toBeGreaterThan(0)
    await platform.sqlOf('webhook-delivery').unsafe('alter table away rename to app_installation')
    await purged(id)
    await expectNoAccess(workspace)
  })

  test('tells the app although its access could not be ended within 24 hours', async () => {
    const { app, id } = await active()
    await platform.sqlOf('webhook-delivery').unsafe('alter table app_installation rename to away')
    await uninstall(id)
    await eventually('its call fails', async () => (await installation(id)).last_error !== null)
    await appsSql`update call set expires_at = clock_timestamp() - interval '1 second' where installation_id = ${id}`
    await platform.sqlOf('webhook-delivery').unsafe('alter table away rename to app_installation')
    await purged(id)
    expect(uninstalls(app)).toHaveLength(1)
    expect(await platform.acts(`installations/${id}`)).not.toContain('apps installation.purge_failed')
  })

  test('tells the app again until it acknowledges, with the same body and a fresh jti', async () => {
    const { app, id } = await active()
    let failures = 0
    app.answerWith((response) => response.writeHead(failures++ < 3 ? 500 : 200).end())
    await uninstall(id)
    await purged(id)
    expect(uninstalls(app)).toHaveLength(4)
    expect(new Set(uninstalls(app).map(({ body }) => JSON.stringify(body))).size).toBe(1)
    expect(new Set(uninstalls(app).map(({ claims }) => claims.jti)).size).toBe(4)
    expect((await installation(id)).last_error).toBeNull()
  })

  test('says in its headers which attempt it is, and what the app did before (OP-240)', async () => {
    const { app, id, workspace } = await active()
    const [provision] = provisions(app)
    app.answerWith((response) => response.writeHead(uninstalls(app).length === 1 ? 500 : 204).end())
    await uninstall(id)
    await purged(id)
    const sent = [provision, ...uninstalls(app)].map((request) => request?.headers ?? {})
    const [key] = await keys(workspace)
    expect(sent).toMatchObject([
      { 'idempotency-key': key?.id, 'backoffice-workspace': workspace },
      { 'idempotency-key': id, 'backoffice-workspace': workspace },
      {
        'idempotency-key': id,
        'backoffice-workspace': workspace,
        'backoffice-attempt': '2',
        'backoffice-last-failure': '/install/uninstall: answered 500',
      },
    ])
    expect(sent.map((headers) => 'backoffice-attempt' in headers)).toEqual([false, false, true])
    const requestIds = sent.map((headers) => String(headers['x-request-id']))
    expect(new Set(requestIds).size).toBe(3)
    const isLogged = (requestId: string) => platform.output('apps').includes(`"request_id":"${requestId}"`)
    await eventually('each attempt is logged', () => requestIds.every(isLogged))
  })

  test('while the app hangs over its provision ends the access at once, and tells the app after it', async () => {
    const { app, id, workspace } = await active()
    const [former] = provisions(app)
    const waiting: ServerResponse[] = []
    app.answerWith((response) => void waiting.push(response))
    await admin('PUT', `/apps/${app.id}`, { manifest: { ...app.manifest, scopes: ['*'] } })
    await admin('POST', `/workspaces/${workspace}/installations`, { provider: app.provider })
    await admin('POST', `/installations/${id}/consent`)
    await eventually('the app is called', () => waiting[0])
    expect(await statusWith(former?.body.apiKey)).toBe(200)
    await uninstall(id)
    await eventually('there is no access', async () => (await keys(workspace)).every((key) => key.is_revoked))
    await expect.poll(() => endpoints(workspace)).toEqual([])
    await expect.poll(() => statusWith(former?.body.apiKey)).toBe(401)
    // The attempt is still under way: the app is told only when it is over.
    const [call] = await appsSql`select claimed_until > now() as is_under_way from call where installation_id = ${id}`
    expect(call).toEqual({ is_under_way: true })
    expect(uninstalls(app)).toEqual([])
    app.answer(200)
    for (const response of waiting) response.writeHead(200).end()
    await purged(id)
    await expectNoAccess(workspace)
    expect(uninstalls(app)).toHaveLength(1)
    expect((await installation(id)).state).toBe('UNINSTALLED')
    expect((await keys(workspace)).map((key) => key.is_activated)).toEqual([true, false])
  })

  test('while the app answers its provision leaves no key that works', async () => {
    const app = await anApp({ webhooks: WEBHOOKS })
    const waiting: ServerResponse[] = []
    app.answerWith((response) => void waiting.push(response))
    const { id, workspace } = await consented(app)
    await eventually('the app is called', () => waiting[0])
    await uninstall(id)
    app.answer(200)
    for (const response of waiting) response.writeHead(200).end()
    await purged(id)
    await expectNoAccess(workspace)
    expect(await keys(workspace)).toMatchObject([{ is_activated: false }])
    const ofIt = platform
      .output('apps')
      .split('\n')
      .filter((line) => line.includes(id))
    expect(ofIt.filter((line) => line.includes('call failed'))).toMatchObject([
      expect.stringContaining('"outcome":"claim_lost"'),
    ])
    expect((await installation(id)).state).toBe('UNINSTALLED')
  })

  test('after a failed provision, whose next attempt is far, ends the access at once', async () => {
    const app = await anApp({ webhooks: WEBHOOKS })
    app.answer(500)
    const { id, workspace } = await consented(app)
    await eventually('the app is called', () => provisions(app).length > 0)
    await appsSql`update call set due_at = due_at + interval '1 hour' where installation_id = ${id}`
    await uninstall(id)
    app.answer(200)
    await purged(id)
    await expectNoAccess(workspace)
  })

  test('during an upgrade ends the access of both keys and both endpoints', async () => {
    const { app, id, workspace } = await active()
    app.answer(500)
    await admin('PUT', `/apps/${app.id}`, { manifest: { ...app.manifest, scopes: ['*'] } })
    await admin('POST', `/workspaces/${workspace}/installations`, { provider: app.provider })
    await admin('POST', `/installations/${id}/consent`)
    await eventually('the upgrade is delivered', () => provisions(app).length > 1)
    expect(await keys(workspace)).toHaveLength(2)
    await uninstall(id)
    await eventually('there is no access', async () => (await keys(workspace)).every((key) => key.is_revoked))
    await eventually('the app is told', () => uninstalls(app).length > 0)
    await expectNoAccess(workspace)
    app.answer(200)
    await purged(id)
  })

  test('before its key was minted leaves a revoked key, so that an attempt that arrives late cannot mint it', async () => {
    const { app, id, workspace } = await active()
    app.answer(500)
    await uninstall(id)
    await eventually('the app is told', () => uninstalls(app).length > 0)
    // Its provision waits for the call before it.
    const again = await consented(app, workspace)
    expect(await keys(workspace)).toHaveLength(1)
    await uninstall(again.id)
    const [, late] = await eventually('there is a second key', async () => {
      const found = await keys(workspace)
      return found.length === 2 && found.every((key) => key.is_revoked) && found
    })
    expect(late).toMatchObject({ is_activated: false })
    app.answer(200)
    await purged(id)
    await purged(again.id)
    expect(provisions(app)).toHaveLength(1)
  })

  test('before the consent tells nobody', async () => {
    const app = await anApp()
    const workspace = await platform.aWorkspace()
    const { body } = await admin<{ id: string }>('POST', `/workspaces/${workspace}/installations`, app)
    expect(body).toHaveProperty('error')
    const asked = await admin<{ id: string }>('POST', `/workspaces/${workspace}/installations`, {
      provider: app.provider,
    })
    await uninstall(asked.body.id)
    await uninstall(asked.body.id)
    expect((await installation(asked.body.id)).state).toBe('UNINSTALLED')
    expect(uninstalls(app)).toEqual([])
  })

  test('that the app does not acknowledge in 24 hours is given up, and recorded; its access has ended long before', async () => {
    const { app, id, workspace } = await active()
    app.answer(500)
    await uninstall(id)
    await eventually('the app is told', () => uninstalls(app).length > 0)
    await expectNoAccess(workspace)
    await appsSql`update call set expires_at = clock_timestamp() - interval '1 second' where installation_id = ${id}`
    await purged(id)
    await expect
      .poll(() => platform.acts(`installations/${id}`), { timeout: 40_000 })
      .toContain('apps installation.purge_failed')
    expect(await installation(id)).toMatchObject({
      state: 'UNINSTALLED',
      last_error: '/install/uninstall: answered 500',
    })
  })

  test('keeps no secret of a provision while it waits for the app', async () => {
    const app = await anApp({ webhooks: WEBHOOKS })
    app.answer(500)
    const { id } = await consented(app)
    await eventually('the app is called', () => provisions(app).length > 0)
    await uninstall(id)
    await eventually('the app is told', () => uninstalls(app).length > 0)
    const [call] = await appsSql`select key_secret, webhook_secret, sealed_with from call where installation_id = ${id}`
    expect(call).toEqual({ key_secret: null, webhook_secret: null, sealed_with: null })
    app.answer(200)
    await purged(id)
  })
})

test('an app that is installed again before it has acknowledged its uninstallation is provisioned after it', async () => {
  const { app, id, workspace } = await active()
  app.answer(500)
  await uninstall(id)
  await eventually('the app is told', () => uninstalls(app).length > 0)
  const again = await consented(app, workspace)
  await eventually('the app is told again', () => uninstalls(app).length > 3)
  expect(provisions(app)).toHaveLength(1)
  // Its 24 hours begin once the call before it is over.
  await appsSql`update call set expires_at = clock_timestamp() where installation_id = ${again.id}`
  app.answer(200)
  await inState(again.id, 'ACTIVE')
  expect(provisions(app)).toHaveLength(2)
  expect((await keys(workspace)).map((key) => key.is_revoked)).toEqual([true, false])
  expect(await endpoints(workspace)).toHaveLength(1)
})

describe('DELETE /v1/apps/{provider} (OP-226)', () => {
  const aKey = async (workspace: string, scopes: string[]) =>
    (await admin<{ key: string }>('POST', `/workspaces/${workspace}/keys`, { name: 'merchant', scopes })).body.key
  const remove = (key: string, { provider }: PartnerApp) =>
    platform.send<{ error?: { message: string } }>(key, 'DELETE', `/v1/apps/${provider}`)

  test('uninstalls the app in the name of the merchant, ends its access and tells it', async () => {
    const { app, id, workspace } = await active()
    const key = await aKey(workspace, ['app::delete'])
    expect(await remove(key, app)).toEqual({ status: 204, body: undefined })
    expect((await remove(key, app)).status).toBe(404)
    expect((await installation(id)).state).toBe('UNINSTALLED')
    await purged(id)
    await expectNoAccess(workspace)
    expect(uninstalls(app)).toMatchObject([{ body: { workspace, reason: 'merchant' } }])
    await expect
      .poll(() => platform.acts(`installations/${id}`), { timeout: 40_000 })
      .toContainEqual(expect.stringMatching(/^key [0-9a-f-]{36} installation\.uninstalled$/))
  })

  test('needs the scope app::delete, and finds no app of another workspace', async () => {
    const { app, id, workspace } = await active()
    expect((await remove(await aKey(workspace, ['app::read', 'app::update']), app)).status).toBe(403)
    const stranger = await platform.aWorkspace()
    expect(await remove(await aKey(stranger, ['app']), app)).toMatchObject({
      status: 404,
      body: { error: { message: expect.stringContaining(app.provider) } },
    })
    expect((await installation(id)).state).toBe('ACTIVE')
    expect(await appsSql`select from call where installation_id = ${id}`).toHaveLength(0)
  })
})

describe('a checkout (OP-85)', () => {
  const session = { sessionId: 's1', redirectUrl: 'https://pay.example/s1', amountMinor: 1030 }
  const order = { orderId: crypto.randomUUID(), amountMinor: 1000, currency: 'EUR' }

  /** A checkout as orders asks for it. */
  const ask = async (
    workspaceId: string,
    provider: string,
    differences: Record<string, unknown> = {},
    headers = {},
  ) => {
    const response = await fetch(`${platform.urlOf('apps')}/internal/checkout`, {
      method: 'POST',
      headers: {
        ...(await serviceHeadersOf(aCaller({ workspaceId }), 'apps')),
        'content-type': 'application/json',
        ...headers,
      },
      body: JSON.stringify({ provider, ...order, ...differences }),
    })
    return { status: response.status, body: (await response.json()) as { error: { code: string; message: string } } }
  }
  const paying = () => active({ checkout: { path: '/pay' }, scopes: ['sale'] })

  test("passes the order on with a session token, and answers the app's three members", async () => {
    const { app, workspace } = await paying()
    app.answer(201, { ...session, fee: 30 })
    expect(await ask(workspace, app.provider)).toEqual({ status: 201, body: session as unknown })
    const [request] = app.requests('/pay')
    expect(request?.body).toEqual(order)
    const claims = decodeJwt(request?.token ?? '')
    expect(claims).toMatchObject({ purpose: 'session', wid: workspace, provider: app.provider, aud: app.provider })
    expect(Number(claims.exp) - Number(claims.iat)).toBe(300)
  })

  test("has the request's id, the workspace and an idempotency key in its headers (OP-240)", async () => {
    const { app, workspace } = await paying()
    app.answer(201, session)
    const requestId = crypto.randomUUID()
    await ask(workspace, app.provider, {}, { 'x-request-id': requestId })
    await ask(workspace, app.provider, {}, { 'x-request-id': crypto.randomUUID(), 'idempotency-key': 'once' })
    const named = { 'backoffice-workspace': workspace }
    expect(app.requests('/pay').map(({ headers }) => headers)).toMatchObject([
      { 'x-request-id': requestId, 'idempotency-key': requestId, ...named },
      { 'x-request-id': expect.any(String), 'idempotency-key': 'once', ...named },
    ])
    expect(app.requests('/pay')[0]?.headers).not.toHaveProperty('backoffice-attempt')
  })

  test.each<[unknown, string]>([
    [{ error: { message: 'The currency is not supported' } }, 'The currency is not supported'],
    [{ message: 'Too little' }, 'Too little'],
    [{ error: 'no_account' }, 'no_account'],
    [{ error: { message: 'x'.repeat(2000) } }, 'x'.repeat(500)],
    [{ error: { message: '  a\0\u001B[31mb\r\nc\uD800' } }, 'the checkout: a [31mb c\uFFFD'],
    [{ error: { message: '' } }, 'it gives no reason'],
    [{ error: { message: ' \n\0 ' } }, 'it gives no reason'],
    [['?'], 'it gives no reason'],
    [undefined, 'it gives no reason'],
    [{ error: { message: 'x'.repeat(100_000) } }, 'its answer has more than 64 KiB'],
  ])('that the app refuses with a 4xx is unprocessable with its message, form %#', async (answer, message) => {
    const { app, workspace } = await paying()
    app.answer(422, answer)
    const refused = await ask(workspace, app.provider)
    expect(refused).toMatchObject({ status: 422, body: { error: { code: 'unprocessable' } } })
    expect(refused.body.error.message).toContain(message)
    expect(refused.body.error.message.length).toBeLessThan(700)
  })

  const NO_TEXT = 'must have no NUL characters and no unpaired surrogates'
  const answered = (differences: Record<string, unknown>) => (response: ServerResponse) =>
    void response.writeHead(200).end(JSON.stringify({ ...session, ...differences }))

  test.each<[string, (response: ServerResponse) => void, string]>([
    ['answers 500', (response) => response.writeHead(500).end(JSON.stringify(session)), 'answered 500'],
    [
      'redirects',
      (response) => response.writeHead(302, { location: 'https://evil.example' }).end(),
      'answered 302: redirects are not followed',
    ],
    ['is silent', () => undefined, 'no response within 4000 ms'],
    ['breaks off', (response) => response.destroy(), 'the connection broke off: other side closed'],
    ['answers no JSON', (response) => response.writeHead(200).end('<html>'), 'its answer is no JSON'],
    ['answers nothing', (response) => response.writeHead(204).end(), 'its answer is no JSON'],
    ['names no session', answered({ sessionId: ' ' }), 'sessionId of its answer: must not be blank'],
    ['names half a character', answered({ sessionId: '\uD800' }), `sessionId of its answer: ${NO_TEXT}`],
    ['names NUL', answered({ sessionId: 'a\0b' }), `sessionId of its answer: ${NO_TEXT}`],
    ['leaves a member out', answered({ sessionId: undefined }), 'sessionId of its answer: is required'],
    ['asks for a negative amount', answered({ amountMinor: -1 }), 'amountMinor of its answer: must be at least 0'],
    ['asks for a fraction', answered({ amountMinor: 0.5 }), 'amountMinor of its answer: must be a whole number'],
    ['answers 100 KB', answered({ more: 'x'.repeat(100_000) }), 'its answer has more than 64 KiB'],
  ])('with an app that %s is service_unavailable, which says what the app did', async (_, answer, reason) => {
    const { app, workspace } = await paying()
    app.answerWith(answer)
    const failed = await ask(workspace, app.provider)
    expect(failed).toMatchObject({ status: 503, body: { error: { code: 'service_unavailable' } } })
    expect(failed.body.error.message).toBe(`${app.provider} does not create a checkout now: ${reason}`)
  })

  test.each<[string, (installed: Awaited<ReturnType<typeof active>>) => Promise<unknown>]>([
    ['suspended', ({ app }) => admin('POST', `/apps/${app.id}/suspend`, {})],
    ['uninstalled', ({ id }) => uninstall(id)],
  ])('with an app that is %s while it answers is unprocessable: it could not record the payment', async (_, end) => {
    const installed = await paying()
    installed.app.answerWith(async (response) => {
      await end(installed)
      response.writeHead(201).end(JSON.stringify(session))
    })
    const { status, body } = await ask(installed.workspace, installed.app.provider)
    expect([status, body.error.code]).toEqual([422, 'unprocessable'])
  })

  test('is sent once, also where the app takes it and closes the connection on which it has answered before', async () => {
    const { app, workspace } = await paying()
    app.answer(201, session)
    expect((await ask(workspace, app.provider)).status).toBe(201)
    app.answerWith((response) => response.destroy())
    expect((await ask(workspace, app.provider)).status).toBe(503)
    expect(app.requests('/pay')).toHaveLength(2)
  })

  test.each([
    ['javascript:alert(1)', 'must be a URL such as'],
    ['/s1', 'must be a URL such as'],
    ['https://pay.example/\uD800', 'must be a URL such as'],
    ['https://pay.example/\0', 'must be a URL such as'],
    ['http://pay.example/s1', 'must be an https URL'],
    ['https://shop@pay.example/s1', 'must not contain a user name'],
    ['https://pay.example:25/s1', 'must use port 443'],
    ['https://10.0.0.1/s1', '10.0.0.1 is not a public address'],
    ['https://[fd00::1]/s1', 'fd00::1 is not a public address'],
    ['https://169.254.169.254/latest', '169.254.169.254 is not a public address'],
  ])(
    'with an app that sends the customer to %s is service_unavailable, which says so (OP-238)',
    async (redirectUrl, reason) => {
      const { app, workspace } = await paying()
      app.answer(200, { ...session, redirectUrl })
      const failed = await ask(workspace, app.provider)
      expect(failed).toMatchObject({ status: 503, body: { error: { code: 'service_unavailable' } } })
      expect(failed.body.error.message).toContain(`redirectUrl of its answer: ${reason}`)
    },
  )

  test('may send the customer to http on loopback where APPS_ALLOW_LOOPBACK says so', async () => {
    const { app, workspace } = await paying()
    const redirectUrl = 'http://127.0.0.1:9998/s1'
    app.answer(200, { ...session, redirectUrl })
    expect(await ask(workspace, app.provider)).toEqual({ status: 201, body: { ...session, redirectUrl } })
  })

  test('with an app that has no checkout, is not installed here or not yet ACTIVE is unprocessable, and calls nobody', async () => {
    const [without, other] = [await active(), await paying()]
    const app = await anApp({ checkout: { path: '/pay' } })
    app.answer(500)
    const pending = await consented(app)
    const asked = [
      [without.workspace, without.app],
      [without.workspace, other.app],
      [pending.workspace, app],
      [crypto.randomUUID(), other.app],
    ] as const
    for (const [workspace, { provider }] of asked) {
      const { status, body } = await ask(workspace, provider)
      expect([status, body.error.message]).toEqual([422, expect.stringContaining('provider: ')])
    }
    expect((await ask(other.workspace, 'nobody')).status).toBe(422)
    await uninstall(other.id)
    expect((await ask(other.workspace, other.app.provider)).status).toBe(422)
    expect([...other.app.requests('/pay'), ...app.requests('/pay')]).toEqual([])
    expect((await ask(without.workspace, other.app.provider, { amountMinor: -1 })).status).toBe(400)
  })
})
