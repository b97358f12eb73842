import { eventually } from '@backoffice/testing/eventually.ts'
import { expect, test } from 'vitest'
import { BATCH_SIZE } from '../sweeps/sweep-installations.ts'
import { appsService } from '../testing/apps-service.ts'
import { type PartnerApp, partnerApp } from '../testing/partner-app.ts'

const platform = await appsService({ APP_RETRY_DELAYS: '100ms', APP_ANSWER_TIMEOUT: '4s' })
const { admin, anApp, consented, inState, installation, keys, endpoints, purged } = platform
const appsSql = platform.sqlOf('apps')
const WEBHOOKS = { path: '/{workspace}/hook', events: ['order.paid'] }

const provisions = (app: Pick<PartnerApp, 'requests'>) => app.requests('/install/provision')
const lastOf = (app: Pick<PartnerApp, 'requests'>) => provisions(app).at(-1)?.body
const statusWith = async (key: unknown) => (await platform.send(String(key), 'GET', '/v1/apps')).status
const provision = (id: string) => admin('POST', `/installations/${id}/provision`, {})
const swept = (id: string) =>
  eventually(`the change of ${id} is everywhere`, async () => {
    const [app] = await appsSql`select swept_to from app where id = ${id}`
    return app?.swept_to === null
  })

async function active(differences: Parameters<typeof anApp>[0] = { webhooks: WEBHOOKS }) {
  const app = await anApp(differences)
  const { id, workspace } = await consented(app)
  await inState(id, 'ACTIVE')
  return { app, id, workspace }
}

test('an installed app gets a new key and a new endpoint; the old ones work until it has acknowledged them (OP-227)', async () => {
  const { app, id, workspace } = await active()
  const first = lastOf(app)
  const [endpoint] = await endpoints(workspace)
  app.answer(503)
  expect(await provision(id)).toMatchObject({ status: 202, body: { id, state: 'ACTIVE' } })
  await eventually('the app is called', () => provisions(app).length > 1)
  const second = lastOf(app)
  expect(second).not.toMatchObject({ apiKey: first?.apiKey })
  expect(second?.webhookSecret).not.toBe(first?.webhookSecret)
  expect([await statusWith(first?.apiKey), await statusWith(second?.apiKey)]).toEqual([200, 401])
  app.answer(200)
  await purged(id)
  await expect.poll(() => statusWith(first?.apiKey)).toBe(401)
  await expect.poll(() => statusWith(second?.apiKey)).toBe(200)
  const left = await endpoints(workspace)
  expect(left).toMatchObject([{ url: endpoint?.url, enabled_events: endpoint?.enabled_events }])
  expect(left[0]?.id).not.toBe(endpoint?.id)
  expect(await installation(id)).toMatchObject({ state: 'ACTIVE', scopes: app.manifest.scopes })
  expect((await keys(workspace)).map((key) => key.is_revoked)).toEqual([true, false])
})

test('rotating the key of an app delivers a new one to the app and shows none to the operator (OP-227)', async () => {
  const { app, id, workspace } = await active()
  const [key] = await keys(workspace)
  const rotate = (body: object) => admin('POST', `/keys/${key?.id}/rotate`, body)
  expect(await rotate({ overlap_seconds: 60 })).toMatchObject({
    status: 422,
    body: { error: { message: expect.stringContaining('overlap_seconds: must be 0') } },
  })
  const rotated = await rotate({})
  expect(rotated).toMatchObject({ status: 202, body: { id, workspace } })
  expect(JSON.stringify(rotated.body)).not.toContain('sk_live')
  await purged(id)
  expect(provisions(app)).toHaveLength(2)
  await expect.poll(() => statusWith(provisions(app)[0]?.body.apiKey)).toBe(401)
  await expect.poll(() => statusWith(lastOf(app)?.apiKey)).toBe(200)
  expect((await rotate({})).status).toBe(409)
})

test('uninstalled during a provision of new credentials, the app keeps neither the old ones nor the new ones', async () => {
  const { app, id, workspace } = await active()
  app.answer(503)
  await Promise.all([provision(id), provision(id)])
  await eventually('the app is called', () => provisions(app).length > 1)
  await admin('DELETE', `/installations/${id}`)
  app.answer(200)
  await purged(id)
  expect((await keys(workspace)).map((key) => key.is_revoked)).toEqual([true, true])
  expect(await endpoints(workspace)).toEqual([])
  expect((await provision(id)).status).toBe(409)
})

test("an app's endpoint follows it to another origin, with its id, unless the merchant has given it another URL", async () => {
  const { app, workspace } = await active()
  const other = await consented(app)
  await inState(other.id, 'ACTIVE')
  const [mine] = await endpoints(workspace)
  const [theirs] = await endpoints(other.workspace)
  const { body: merchant } = await admin<{ key: string }>('POST', `/workspaces/${other.workspace}/keys`, {
    name: 'merchant',
    scopes: ['webhook'],
  })
  const changed = `${app.origin}/elsewhere`
  expect((await platform.send(merchant.key, 'PUT', `/v1/webhooks/${theirs?.id}`, { url: changed })).status).toBe(200)
  const moved = await partnerApp()
  await admin('PUT', `/apps/${app.id}`, { origin: moved.origin, manifest: app.manifest })
  await swept(app.id)
  expect(await endpoints(workspace)).toMatchObject([{ id: mine?.id, url: `${moved.origin}/${workspace}/hook` }])
  expect(await endpoints(other.workspace)).toMatchObject([{ id: theirs?.id, url: changed }])
  // And back.
  await admin('PUT', `/apps/${app.id}`, { origin: app.origin, manifest: app.manifest })
  await swept(app.id)
  expect(await endpoints(workspace)).toMatchObject([{ id: mine?.id, url: mine?.url }])
})

test('an app that moves while it is provisioned has its endpoint and its key where it is in the end', async () => {
  const app = await anApp({ webhooks: WEBHOOKS })
  const moved = await partnerApp()
  app.answer(503)
  const { id, workspace } = await consented(app)
  await eventually('the app is called', () => provisions(app).length > 0)
  await admin('PUT', `/apps/${app.id}`, { origin: moved.origin, manifest: app.manifest })
  await inState(id, 'ACTIVE')
  expect(await endpoints(workspace)).toMatchObject([{ url: `${moved.origin}/${workspace}/hook` }])
  await expect.poll(() => statusWith(lastOf(moved)?.apiKey)).toBe(200)
})

test('an app that moves after it has acknowledged is told where it is now', async () => {
  const app = await anApp({ webhooks: WEBHOOKS })
  const moved = await partnerApp()
  const hasMoved = Promise.withResolvers<void>()
  app.answerWith(async (response) => {
    await hasMoved.promise
    response.writeHead(200).end()
  })
  const { id, workspace } = await consented(app)
  await eventually('the app is called', () => provisions(app).length > 0)
  await admin('PUT', `/apps/${app.id}`, { origin: moved.origin, manifest: app.manifest })
  hasMoved.resolve()
  await inState(id, 'ACTIVE')
  expect(await endpoints(workspace)).toMatchObject([{ url: `${moved.origin}/${workspace}/hook` }])
  await expect.poll(() => statusWith(lastOf(moved)?.apiKey)).toBe(200)
  expect([provisions(app).length, provisions(moved).length]).toEqual([1, 1])
})

/** Provisions an installed app again, and revokes the new key before the app answers. */
async function revokedWhileAnswering(meanwhile?: () => Promise<unknown>) {
  const { app, id, workspace } = await active()
  const former = lastOf(app)?.apiKey
  const isRevoked = Promise.withResolvers<void>()
  app.answerWith(async (response) => {
    await isRevoked.promise
    response.writeHead(200).end()
  })
  await provision(id)
  await eventually('the app is called', () => provisions(app).length > 1)
  const fresh = (await keys(workspace)).at(-1)
  expect((await admin('DELETE', `/keys/${fresh?.id}`)).status).toBe(204)
  await meanwhile?.()
  isRevoked.resolve()
  return { app, id, workspace, former }
}

test('a new key that is revoked while the app answers ends alone: what was there stays (OP-227)', async () => {
  const { app, id, workspace, former } = await revokedWhileAnswering()
  await purged(id)
  expect(await installation(id)).toMatchObject({ state: 'ACTIVE', last_error: expect.stringContaining('was revoked') })
  const isLogged = (line: string) => line.includes(id) && line.includes('"outcome":"given_up"')
  await eventually('why is logged', () => platform.output('apps').split('\n').some(isLogged))
  expect(app.requests('/install/uninstall')).toEqual([])
  expect((await keys(workspace)).map((key) => key.is_revoked)).toEqual([false, true])
  expect(await statusWith(former)).toBe(200)
  expect(await endpoints(workspace)).toHaveLength(1)
})

test('a new key that is revoked before the app has acknowledged it makes way for another one (OP-227)', async () => {
  const { app, id, workspace } = await active()
  const former = lastOf(app)?.apiKey
  app.answer(503)
  await provision(id)
  await eventually('the app is called', () => provisions(app).length > 1)
  expect((await admin('DELETE', `/keys/${(await keys(workspace)).at(-1)?.id}`)).status).toBe(204)
  await purged(id)
  expect(await statusWith(former)).toBe(200)
  expect(await endpoints(workspace)).toHaveLength(1)
  app.answer(200)
  await provision(id)
  await purged(id)
  await expect.poll(() => statusWith(lastOf(app)?.apiKey)).toBe(200)
  expect((await keys(workspace)).map((key) => key.is_revoked)).toEqual([true, true, false])
})

test('the endpoints of more installations than a sweep reads at once move although webhook-delivery is away and the process is killed meanwhile', async () => {
  const app = await anApp({ webhooks: WEBHOOKS })
  const all = await Promise.all(Array.from({ length: BATCH_SIZE + 1 }, () => consented(app)))
  for (const { id } of all) await inState(id, 'ACTIVE')
  const moved = await partnerApp()
  await platform.end('webhook-delivery')
  await admin('PUT', `/apps/${app.id}`, { origin: moved.origin, manifest: app.manifest })
  await eventually('the sweep has failed', () => platform.output('apps').includes('sweep of installations'))
  await platform.end('apps')
  await platform.startAgain('webhook-delivery')
  await platform.startAgain('apps')
  await swept(app.id)
  const urls = await platform.sqlOf('webhook-delivery')<{ url: string }[]>`
    select url from endpoint where workspace_id = any(${all.map(({ workspace }) => workspace)}::uuid[])`
  expect(urls).toHaveLength(all.length)
  expect(urls.filter(({ url }) => !url.startsWith(moved.origin))).toEqual([])
})

test('an acknowledged provision is finished without asking the app again, also by another process after 24 hours (OP-227)', async () => {
  const { app, id, workspace } = await active()
  const isLocked = Promise.withResolvers<void>()
  app.answerWith(async (response) => {
    await isLocked.promise
    response.writeHead(200).end()
  })
  await provision(id)
  await eventually('the app is called', () => provisions(app).length > 1)
  await appsSql.begin(async (tx) => {
    await tx`select from installation where id = ${id} for no key update`
    isLocked.resolve()
    await eventually('the former key and endpoint have ended', async () => {
      const [[former], left] = await Promise.all([keys(workspace), endpoints(workspace)])
      return former?.is_revoked === true && left.length === 1
    })
    await platform.end('apps')
  })
  app.answer(503)
  await appsSql`update call set expires_at = now(), claimed_until = now() where installation_id = ${id}`
  await platform.startAgain('apps')
  await purged(id)
  expect((await keys(workspace)).map((key) => key.is_revoked)).toEqual([true, false])
  await expect.poll(() => statusWith(lastOf(app)?.apiKey)).toBe(200)
  expect(await endpoints(workspace)).toHaveLength(1)
  expect(provisions(app)).toHaveLength(2)
})

test.each(['webhook-delivery', 'gateway'] as const)(
  'so does one whose end needs a second attempt, since %s is away (OP-227)',
  async (away) => {
    const { id, workspace, former } = await revokedWhileAnswering(() => platform.end(away))
    await eventually('there is a second attempt', async () => {
      const [call] = await appsSql`select from call where installation_id = ${id} and attempts > 1`
      return call !== undefined
    })
    await platform.startAgain(away)
    await purged(id)
    expect((await keys(workspace)).map((key) => key.is_revoked)).toEqual([false, true])
    expect(await statusWith(former)).toBe(200)
    expect(await endpoints(workspace)).toHaveLength(1)
  },
)
