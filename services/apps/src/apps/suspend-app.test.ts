import type { Installation } from '@backoffice/contracts/app.ts'
import { eventually } from '@backoffice/testing/eventually.ts'
import { describe, expect, test } from 'vitest'
import { BATCH_SIZE } from '../sweeps/sweep-installations.ts'
import { appsService } from '../testing/apps-service.ts'
import type { PartnerApp } from '../testing/partner-app.ts'

const platform = await appsService({ APP_RETRY_DELAYS: '100ms', APP_ANSWER_TIMEOUT: '4s' })
const { admin, anApp, aWorkspace, consented, inState, keys, endpoints, purged } = platform
const appsSql = platform.sqlOf('apps')
const WEBHOOKS = { path: '/hook', events: ['*'] }

interface Status {
  readonly status: string
  readonly reason: string | null
  readonly in_force: boolean
}

const provisions = (app: Pick<PartnerApp, 'requests'>) => app.requests('/install/provision')
const keyOf = (app: Pick<PartnerApp, 'requests'>, workspace: string) =>
  String(provisions(app).findLast(({ claims }) => claims.wid === workspace)?.body.apiKey)
const answerTo = (key: string) => platform.send<{ error?: { message: string } }>(key, 'GET', '/v1/apps')
const statusWith = async (key: string) => (await answerTo(key)).status
const change = (id: string, verb: 'suspend' | 'resume', body: object = {}) =>
  admin<Status>('POST', `/apps/${id}/${verb}`, body)
const inForce = (id: string) =>
  eventually(`the change of ${id} is in force`, async () => {
    const { body } = await admin<Status>('GET', `/apps/${id}/status`)
    return body.in_force && body
  })
const gone = (id: string) =>
  eventually(`the app ${id} is gone`, async () => (await admin('GET', `/apps/${id}/status`)).status === 404)

async function active(differences: Parameters<typeof anApp>[0] = { webhooks: WEBHOOKS }) {
  const app = await anApp(differences)
  const { id, workspace } = await consented(app)
  await inState(id, 'ACTIVE')
  await expect.poll(() => statusWith(keyOf(app, workspace))).toBe(200)
  return { app, id, workspace, key: keyOf(app, workspace) }
}

describe('a suspended app (OP-228)', () => {
  test('has no key that works, no session and no installation until it is resumed; other apps go on', async () => {
    const { app, id, key, workspace } = await active()
    const second = await consented(app)
    await inState(second.id, 'ACTIVE')
    const other = await active()
    expect(await change(app.id, 'suspend', { reason: 'it leaks' })).toMatchObject({
      status: 200,
      body: { status: 'SUSPENDED', reason: 'it leaks' },
    })
    expect((await change(app.id, 'suspend', { reason: 'again' })).body).toMatchObject({ reason: 'it leaks' })
    expect(await admin('POST', `/installations/${id}/session`)).toMatchObject({
      status: 409,
      body: { error: { message: expect.stringContaining('is suspended') } },
    })
    const asked = await admin('POST', `/workspaces/${await aWorkspace()}/installations`, { provider: app.provider })
    expect(asked).toMatchObject({ status: 409, body: { error: { message: expect.stringContaining('provider: ') } } })
    await inForce(app.id)
    await expect
      .poll(() => answerTo(key))
      .toMatchObject({
        status: 401,
        body: { error: { message: 'The app of the API key is suspended' } },
      })
    await expect.poll(() => statusWith(keyOf(app, second.workspace))).toBe(401)
    expect(await statusWith(other.key)).toBe(200)
    expect((await admin('POST', `/installations/${other.id}/session`)).status).toBe(201)

    expect((await change(app.id, 'resume')).body).toMatchObject({ status: 'ACTIVE', reason: null })
    await inForce(app.id)
    await expect.poll(() => statusWith(key)).toBe(200)
    await expect.poll(() => statusWith(keyOf(app, second.workspace))).toBe(200)
    expect((await admin('POST', `/installations/${id}/session`)).status).toBe(201)
    expect(await keys(workspace)).toMatchObject([{ is_revoked: false }])
    await expect
      .poll(() => platform.acts(`apps/${app.id}`), { timeout: 40_000 })
      .toEqual(['bootstrap app.registered', 'bootstrap app.suspended', 'bootstrap app.resumed'])
  })

  test('is sent no event, and gets those that have waited when it is resumed', async () => {
    const { app, key, workspace } = await active({ webhooks: WEBHOOKS, scopes: ['webhook', 'app::read'] })
    const [endpoint] = await endpoints(workspace)
    const { body: merchant } = await admin<{ key: string }>('POST', `/workspaces/${workspace}/keys`, {
      name: 'merchant',
      scopes: ['webhook'],
    })
    const ping = async () =>
      expect((await platform.send(merchant.key, 'POST', `/v1/webhooks/${endpoint?.id}/ping`)).status).toBeLessThan(300)
    const received = new Set<unknown>()
    app.answerWith((response, { path, headers }) => {
      if (path === '/hook') received.add(headers['webhook-id'])
      response.writeHead(200).end()
    })
    await ping()
    await expect.poll(() => received.size).toBe(1)
    await change(app.id, 'suspend')
    await inForce(app.id)
    await expect.poll(() => statusWith(key)).toBe(401)
    const waiting = () => platform.sqlOf('webhook-delivery')`
      select event_id, attempts_made from delivery where workspace_id = ${workspace} and status = 'PENDING'`
    // Its dispatchers read within a moment that the endpoint is paused.
    await eventually('deliveries wait', async () => {
      await ping()
      return (await waiting()).length > 2
    })
    const found = await waiting()
    expect(found.map(({ attempts_made }) => attempts_made)).toEqual(found.map(() => 0))
    // The first of them may have been in flight when the endpoint was paused.
    const all = new Set([...received, ...found.map(({ event_id }) => event_id)])
    expect(received.size).toBeLessThan(all.size - 1)
    await change(app.id, 'resume')
    await expect.poll(() => received).toEqual(all)
  })

  test('that is provisioned gets no key that works; the provision is made when it is resumed', async () => {
    const app = await anApp({ webhooks: WEBHOOKS })
    app.answer(503)
    const { id, workspace } = await consented(app)
    await eventually('the app is called', () => provisions(app).length > 0)
    await eventually('no attempt is under way', async () => {
      const { count } = await appsSql`
        update call set due_at = now() + interval '1 hour' where installation_id = ${id} and claim is null`
      return count > 0
    })
    // As when the attempt had died before it said whose the endpoint is.
    const webhookSql = platform.sqlOf('webhook-delivery')
    await webhookSql`update endpoint set made_by = null where workspace_id = ${workspace}`
    await change(app.id, 'suspend')
    await inForce(app.id)
    const owners =
      await webhookSql`select made_by is not null as is_known from endpoint where workspace_id = ${workspace}`
    expect(owners).toEqual([{ is_known: true }])
    app.answer(200)
    // Past its 24 hours: a suspended app has not failed to acknowledge.
    await appsSql`
      update call set expires_at = clock_timestamp() - interval '1 second', due_at = clock_timestamp()
      where installation_id = ${id}`
    const waiting = await consented(await other(app), workspace)
    await inState(waiting.id, 'ACTIVE')
    expect(await platform.installation(id)).toMatchObject({ state: 'PENDING' })
    expect((await keys(workspace)).filter((key) => key.is_activated)).toHaveLength(1)
    await change(app.id, 'resume')
    await inState(id, 'ACTIVE')
    await expect.poll(() => statusWith(keyOf(app, workspace))).toBe(200)
  })

  test('suspended while it answers its provision, it gets no key that works until it is resumed', async () => {
    const app = await anApp()
    let answered = 0
    app.answerWith(async (response) => {
      if (answered++ === 0) await change(app.id, 'suspend')
      response.writeHead(200).end()
    })
    const { id, workspace } = await consented(app)
    await eventually('the attempt has failed', async () => (await platform.installation(id)).last_error !== null)
    expect(await platform.installation(id)).toMatchObject({
      state: 'PENDING',
      last_error: 'the app was suspended while it answered',
    })
    expect(await keys(workspace)).toMatchObject([{ is_activated: false }])
    await change(app.id, 'resume')
    await inState(id, 'ACTIVE')
    await expect.poll(() => statusWith(keyOf(app, workspace))).toBe(200)
  })

  test('can be uninstalled, and is told', async () => {
    const { app, id, workspace } = await active()
    await change(app.id, 'suspend')
    expect((await admin('DELETE', `/installations/${id}`)).status).toBe(202)
    await purged(id)
    expect(app.requests('/install/uninstall')).toHaveLength(1)
    expect(await endpoints(workspace)).toEqual([])
  })
})

/** Another app, for what must happen in the meantime. */
const other = (_: PartnerApp) => anApp()

describe('a deleted app (OP-229)', () => {
  test('is uninstalled everywhere, told, and gone; its names are never given again', async () => {
    const { app, id, key } = await active()
    const all = await Promise.all(Array.from({ length: 21 }, () => consented(app)))
    const workspace = await aWorkspace()
    const unanswered = await admin<Installation>('POST', `/workspaces/${workspace}/installations`, {
      provider: app.provider,
    })
    app.answer(503)
    expect(await admin<Status>('DELETE', `/apps/${app.id}`)).toMatchObject({ status: 202, body: { status: 'DELETED' } })
    expect((await admin('DELETE', `/apps/${app.id}`)).status).toBe(202)
    expect((await admin('GET', `/apps/${app.id}`)).status).toBe(404)
    expect((await change(app.id, 'resume')).status).toBe(409)
    expect((await admin('POST', `/workspaces/${workspace}/installations`, app)).status).toBeGreaterThan(399)
    await expect.poll(() => statusWith(key)).toBe(401)
    await eventually('the app is told', () => app.requests('/install/uninstall').length > 0)
    expect((await admin<Status>('GET', `/apps/${app.id}/status`)).body).toMatchObject({ status: 'DELETED' })
    app.answer(200)
    await gone(app.id)
    const told = new Set(app.requests('/install/uninstall').map(({ claims }) => claims.wid))
    expect(told.size).toBe(all.length + 1)
    expect(app.requests('/install/uninstall')[0]?.body).toMatchObject({ reason: 'app_deleted' })
    for (const of of [id, unanswered.body.id]) expect((await admin('GET', `/installations/${of}`)).status).toBe(404)
    expect(await appsSql`select from installation where app_id = ${app.id}`).toHaveLength(0)
    const left = await platform.sqlOf('gateway')`
      select from api_key where revoked_at is null and workspace_id = any(${all.map(({ workspace }) => workspace)}::uuid[])`
    expect(left).toHaveLength(0)
    for (const { workspace } of all) expect(await endpoints(workspace)).toEqual([])
    expect((await admin('POST', '/apps', { origin: app.origin, manifest: app.manifest })).status).toBe(409)
  })
})

describe('the installations of all workspaces (OP-230)', () => {
  test('are listed by app, by state and by whether the last call has failed', async () => {
    const { app, id } = await active()
    app.answer(500)
    const failing = await consented(app)
    await eventually('the call has failed', async () => (await platform.installation(failing.id)).last_error !== null)
    const list = async (query: string) => {
      const { body } = await admin<{ items: Installation[]; total: number }>('GET', `/installations?${query}`)
      return body.items.map((item) => item.id)
    }
    expect(await list(`app=${app.id}`)).toEqual([failing.id, id])
    expect(await list(`app=${app.id}&state=ACTIVE`)).toEqual([id])
    expect(await list(`app=${app.id}&error=true`)).toEqual([failing.id])
    expect(await list(`app=${app.id}&error=false&limit=1`)).toEqual([id])
    expect(await list(`app=${crypto.randomUUID()}`)).toEqual([])
    expect(await list('limit=100')).toEqual(expect.arrayContaining([failing.id, id]))
    expect((await admin('GET', '/installations?state=BROKEN')).status).toBe(400)
  })
})

test('an app is suspended in more workspaces than a sweep reads at once although webhook-delivery is away at first and the process is killed', async () => {
  const app = await anApp()
  const all = await Promise.all(Array.from({ length: BATCH_SIZE + 1 }, () => consented(app)))
  for (const { id } of all) await inState(id, 'ACTIVE')
  await platform.end('webhook-delivery')
  await change(app.id, 'suspend')
  await eventually('the sweep has failed', () => platform.output('apps').includes('sweep of installations'))
  await platform.end('apps')
  await platform.startAgain('webhook-delivery')
  await platform.startAgain('apps')
  await inForce(app.id)
  const [counted] = await platform.sqlOf('gateway')<{ count: number }[]>`
    select count(*)::integer as count from api_key
    where app_suspended_at is not null and workspace_id = any(${all.map(({ workspace }) => workspace)}::uuid[])`
  expect(counted?.count).toBe(all.length)
})
