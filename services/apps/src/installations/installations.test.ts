import type { AppSession, AppStatus, Installation, InstalledApp } from '@backoffice/contracts/app.ts'
import type { AppManifest } from '@backoffice/contracts/app-manifest.ts'
import type { Caller } from '@backoffice/http/internal-token.ts'
import { openDatabase } from '@backoffice/postgres/database.ts'
import { presentTraceparent } from '@backoffice/runtime/trace-context.ts'
import { SecretKeys } from '@backoffice/secrets/secret-box.ts'
import { aCaller } from '@backoffice/testing/caller.ts'
import { eventually } from '@backoffice/testing/eventually.ts'
import { describeWalks } from '@backoffice/testing/list-walk.ts'
import { whenDone } from '@backoffice/testing/when-done.ts'
import { decodeJwt } from 'jose'
import { describe, expect, test } from 'vitest'
import { lockInstallation } from '../apps/installation-rows.ts'
import { SYSTEM_ACTOR } from '../apps/record-act.ts'
import { appsApi, operator } from '../testing/apps-api.ts'
import { testSecretKeys } from '../testing/test-keys.ts'
import { consentTo } from './consent.ts'

const { send, admin, anApp, install, acknowledge, acts, workerUrl, db, takeStatements } = await appsApi()
const merchant = (workspaceId: string) => aCaller({ workspaceId, keyId: 'merchant', scopes: [] })

/** An app in a workspace of its own, and requests about its installation. */
async function requested(differences: Partial<AppManifest> = {}) {
  const app = await anApp(differences)
  const caller = merchant(crypto.randomUUID())
  const { body } = await install(caller, app.provider)
  const path = `/internal/installations/${body.id}`
  return {
    ...body,
    app,
    caller,
    path,
    get: async () => (await send<Installation>(caller, 'GET', path)).body,
    consent: (asked?: unknown, by: Caller = caller) => send<Installation>(by, 'POST', `${path}/consent`, asked),
    decline: () => send<Installation>(caller, 'POST', `${path}/decline`),
    uninstall: () => send(caller, 'DELETE', path),
    again: () => install(caller, app.provider),
    update: (manifest: Partial<AppManifest>) =>
      send(operator, 'PUT', `/internal/apps/${app.id}`, { manifest: { ...app.manifest, ...manifest } }),
    calls: () =>
      admin`select kind, manifest, key_id, key_secret, webhook_secret from call where installation_id = ${body.id}`,
    acts: () => acts(`installations/${body.id}`),
  }
}

/** As `requested`, and consented and acknowledged. */
async function installed(differences: Partial<AppManifest> = {}) {
  const found = await requested(differences)
  await found.consent()
  await acknowledge(found.id)
  return found
}

describe('asking for an app', () => {
  test('makes an installation that waits for consent, and calls nobody', async () => {
    const { app, caller, get, calls, acts } = await requested({ name: 'Pay', scopes: ['sale', 'product::read'] })
    expect(await get()).toMatchObject({
      provider: app.provider,
      name: 'Pay',
      workspace: caller.workspaceId,
      state: 'PENDING',
      scopes: [],
      requested_scopes: ['sale', 'product::read'],
      last_error: null,
      consented_at: null,
    })
    expect(await calls()).toEqual([])
    expect(await acts()).toEqual(['merchant installation.created'])
  })

  test('for an unknown provider is unprocessable, for an impossible one bad_request', async () => {
    const unknown = await install(merchant(crypto.randomUUID()), 'nobody')
    expect(unknown).toMatchObject({ status: 422, body: { error: { message: expect.stringContaining('provider: ') } } })
    expect((await install(merchant(crypto.randomUUID()), 'No Body')).status).toBe(400)
  })

  test('ten times at once makes one installation and one act', async () => {
    const { provider } = await anApp()
    const caller = merchant(crypto.randomUUID())
    const answers = await Promise.all(Array.from({ length: 10 }, () => install(caller, provider)))
    expect(answers.map(({ status }) => status)).toEqual(Array(10).fill(201))
    expect(new Set(answers.map(({ body }) => body.id)).size).toBe(1)
    expect(await acts(`installations/${answers[0]?.body.id}`)).toEqual(['merchant installation.created'])
  })

  test('in a workspace that is being deleted is not_found, as its installations are', async () => {
    const { id, caller, path, again, consent } = await requested()
    await admin`insert into deleted_workspace (workspace_id, livemode) values (${caller.workspaceId}, true)`
    const refused = { status: 404, body: { error: { code: 'not_found' } } }
    expect(await again()).toMatchObject(refused)
    expect(await install(caller, (await anApp()).provider)).toMatchObject(refused)
    expect(await consent(undefined, operator)).toMatchObject(refused)
    expect(await send(operator, 'GET', path)).toMatchObject(refused)
    expect(await admin`select id from installation where workspace_id = ${caller.workspaceId}`).toEqual([{ id }])
  })

  test('again before the consent shows the newest manifest', async () => {
    const { id, again, update, get } = await requested()
    await update({ scopes: ['sale'] })
    expect((await get()).requested_scopes).toEqual(['product::read'])
    expect((await again()).body).toMatchObject({ id, requested_scopes: ['sale'] })
  })

  test('again for the manifest that is in force is conflict, whether the app has acknowledged it or not', async () => {
    const { id, consent, again } = await requested()
    await consent()
    expect((await again()).status).toBe(409)
    await acknowledge(id)
    expect((await again()).status).toBe(409)
  })

  test.each<[string, Partial<AppManifest>]>([
    ['scopes', { scopes: ['product::read', 'sale'] }],
    ['webhooks', { webhooks: { path: '/hook', events: ['order.paid'] } }],
  ])('again after the %s have changed asks for a new consent, and the app stays ACTIVE', async (_, change) => {
    const { id, update, again, consent, get } = await installed()
    await update(change)
    expect((await get()).requested_scopes).toEqual([])
    const asked = { id, state: 'ACTIVE', scopes: ['product::read'] }
    expect((await again()).body).toMatchObject({ ...asked, requested_scopes: change.scopes ?? ['product::read'] })
    await consent()
    expect(await get()).toMatchObject({ ...asked, requested_scopes: [] })
    expect((await again()).status).toBe(409)
    await acknowledge(id)
    expect((await get()).scopes).toEqual(change.scopes ?? ['product::read'])
  })

  test('again after only the order of scopes and events has changed is conflict', async () => {
    const webhooks = { path: '/hook', events: ['order.paid', 'invoice.paid'] }
    const { id, update, again, consent } = await requested({ scopes: ['sale', 'product::read'], webhooks })
    await consent()
    await acknowledge(id)
    await update({
      scopes: ['product::read', 'sale'],
      webhooks: { ...webhooks, events: webhooks.events.toReversed() },
    })
    expect((await again()).status).toBe(409)
    await update({ scopes: ['sale'], webhooks })
    expect((await again()).body.requested_scopes).toEqual(['sale'])
    await update({ webhooks: { ...webhooks, path: '/other' } })
    expect((await again()).body.requested_scopes).toEqual(['sale', 'product::read'])
  })

  test.each(['before', 'after'])(
    'again with a manifest that is in force once more, %s the app has acknowledged it, ends the question for more',
    async (when) => {
      const { id, update, again, consent, get, acts } = await requested()
      await consent()
      if (when === 'after') await acknowledge(id)
      await update({ scopes: ['*'] })
      expect((await again()).body.requested_scopes).toEqual(['*'])
      await update({})
      expect(await again()).toMatchObject({ status: 201, body: { id, requested_scopes: [] } })
      expect((await acts()).filter((act) => act.endsWith('installation.created'))).toHaveLength(3)
      expect((await consent({ scopes: ['*'] })).body.requested_scopes).toEqual([])
      expect(await again()).toMatchObject({ status: 409 })
      expect((await get()).scopes).toEqual(['product::read'])
    },
  )

  test('again while the merchant consents to the newest manifest is conflict', async () => {
    const { id, caller, update, again, get } = await installed()
    await update({ scopes: ['sale'] })
    await again()
    const context = { ...caller, traceparent: presentTraceparent() }
    const { asked } = await db.inWorkspace(context, async (tx) => {
      const installation = await lockInstallation(tx, id)
      const { app_manifest: newest } = installation
      await consentTo(tx, installation, newest, SecretKeys.parse(testSecretKeys), SYSTEM_ACTOR, new Date())
      const asked = again()
      await eventually('it waits for the consent', async () => {
        const waiting = await admin`
          select from pg_stat_activity where wait_event_type = 'Lock' and datname = current_database()`
        return waiting.length === 1
      })
      return { asked }
    })
    expect((await asked).status).toBe(409)
    expect((await get()).requested_scopes).toEqual([])
  })

  test('again after only name, embed or checkout have changed is conflict: they hold at once', async () => {
    const { update, again, get } = await installed()
    await update({ name: 'New name', embed: '/new', checkout: { path: '/pay' } })
    expect((await again()).status).toBe(409)
    expect(await get()).toMatchObject({ name: 'New name', embed: '/new' })
  })
})

describe('consent', () => {
  test('adds one call with one key, also when it is given ten times at once', async () => {
    const { consent, calls, acts, get } = await requested()
    const answers = await Promise.all(Array.from({ length: 10 }, () => consent()))
    expect(answers.map(({ status }) => status)).toEqual(Array(10).fill(200))
    expect(await calls()).toHaveLength(1)
    expect((await consent()).status).toBe(200)
    expect(await acts()).toEqual(['merchant installation.created', 'merchant installation.consented'])
    expect(await get()).toMatchObject({ state: 'PENDING', scopes: ['product::read'], requested_scopes: [] })
  })

  test('is to what was asked for, although the app asks for more by now', async () => {
    const { update, consent, calls } = await requested()
    await update({ scopes: ['*'] })
    expect((await consent()).body.scopes).toEqual(['product::read'])
    expect(await calls()).toMatchObject([{ manifest: { scopes: ['product::read'] } }])
  })

  test('to other scopes than those asked for by now is conflict, and nothing happens', async () => {
    const { update, again, consent, calls, acts } = await requested({ scopes: ['sale', 'product'] })
    await update({ scopes: ['*'] })
    await again()
    const answer = await consent({ scopes: ['sale', 'product'] })
    expect(answer).toMatchObject({ status: 409, body: { error: { message: expect.stringContaining('scopes: ') } } })
    expect(await calls()).toEqual([])
    expect(await acts()).not.toContain('merchant installation.consented')
    expect((await consent({ scopes: ['*'] })).status).toBe(200)
  })

  test('while the app has not acknowledged the one before is conflict, and is possible afterwards', async () => {
    const { id, consent, update, again, get } = await requested()
    await consent()
    await update({ scopes: ['sale'] })
    expect((await again()).status).toBe(201)
    const { status, headers } = await consent()
    expect([status, headers['error-reason']]).toEqual([409, 'not_acknowledged'])
    expect((await get()).requested_scopes).toEqual(['sale'])
    await acknowledge(id)
    expect((await consent()).status).toBe(200)
  })

  test('to other webhooks than the app asks for is conflict; the order of their events does not matter', async () => {
    const webhooks = { path: '/hook', events: ['order.paid', 'invoice.paid'] }
    const { consent, calls } = await requested({ webhooks })
    const consentTo = (shown: unknown) => consent({ webhooks: shown })
    for (const other of [null, { ...webhooks, path: '/old' }, { ...webhooks, standard_signature: true }]) {
      expect((await consentTo(other)).status).toBe(409)
    }
    expect(await calls()).toEqual([])
    expect((await consentTo({ ...webhooks, events: webhooks.events.toReversed() })).status).toBe(200)
  })

  test('seals the secrets: neither is in the row in plain text', async () => {
    const { consent, calls } = await requested({ webhooks: { path: '/hook', events: ['order.paid'] } })
    await consent()
    const [call] = await calls()
    // Nonce, 32 bytes, tag.
    expect([call?.key_secret.length, call?.webhook_secret.length]).toEqual([60, 60])
    expect(call?.key_secret.equals(call?.webhook_secret)).toBe(false)
  })

  test.each(['uninstall', 'decline'] as const)('after %s is conflict', async (act) => {
    const found = await requested()
    await found[act]()
    expect((await found.consent()).status).toBe(409)
    expect(await found.calls()).toEqual([])
  })
})

describe('declining', () => {
  test('ends a new installation without a call, twice is the same', async () => {
    const { decline, calls, acts, again, id } = await requested()
    expect((await decline()).body).toMatchObject({ state: 'UNINSTALLED', requested_scopes: [] })
    expect((await decline()).status).toBe(200)
    expect(await calls()).toEqual([])
    expect(await acts()).toEqual(['merchant installation.created', 'merchant installation.declined'])
    expect((await again()).body.id).not.toBe(id)
  })

  test('an upgrade leaves the app as it was; without a question it is conflict', async () => {
    const { decline, update, again } = await installed()
    expect((await decline()).status).toBe(409)
    await update({ scopes: ['*'] })
    await again()
    const answer = await decline()
    expect(answer.body).toMatchObject({
      state: 'ACTIVE',
      scopes: ['product::read'],
      requested_scopes: [],
      uninstalled_at: null,
    })
  })
})

describe('a provision again (OP-227)', () => {
  test('ten times at once adds one call with one key, and waits for no schedule; one that is acknowledged is conflict', async () => {
    const { id, caller, path, calls, acts } = await installed()
    const provision = () => send<Installation>(caller, 'POST', `${path}/provision`)
    const answers = await Promise.all(Array.from({ length: 10 }, provision))
    expect(answers.map(({ status }) => status)).toEqual(Array(10).fill(202))
    expect(answers[0]?.body).toMatchObject({ id, state: 'ACTIVE' })
    const [call, ...others] = await calls()
    expect(others).toEqual([])
    expect(await acts()).toContain('merchant installation.provisioned')
    await admin`
      update call set attempts = 9, due_at = clock_timestamp() + interval '1 hour' where installation_id = ${id}`
    expect((await provision()).status).toBe(202)
    expect(await calls()).toEqual([call])
    const [waiting] = await admin`
      select attempts, due_at <= clock_timestamp() as is_due from call where installation_id = ${id}`
    expect(waiting).toEqual({ attempts: 1, is_due: true })
    // It ends with its own key, which may be the one that was revoked.
    await admin`update call set acknowledged_origin = 'https://app.example' where installation_id = ${id}`
    expect((await provision()).status).toBe(409)
  })

  test('is conflict before the consent, while one is given up, and after the end; another workspace finds nothing', async () => {
    const asked = await requested()
    const provision = (caller: Caller, path: string) =>
      send<{ error: { message: string } }>(caller, 'POST', `${path}/provision`)
    const before = await provision(asked.caller, asked.path)
    expect([before.status, before.body.error.message]).toEqual([409, expect.stringContaining('not consented')])
    await asked.consent()
    await admin`update call set expires_at = clock_timestamp() where installation_id = ${asked.id}`
    expect((await provision(asked.caller, asked.path)).status).toBe(409)
    const { caller, path, uninstall } = await installed()
    expect((await provision(merchant(crypto.randomUUID()), path)).status).toBe(404)
    await uninstall()
    expect((await provision(caller, path)).status).toBe(409)
  })

  test('of the app of a key needs the key that the app has in this workspace', async () => {
    const { id, caller } = await installed()
    const [row] = await admin`select key_id from installation where id = ${id}`
    const provision = (by: Caller, key: unknown) => send<Installation>(by, 'POST', '/internal/provisions', { key })
    expect((await provision(caller, crypto.randomUUID())).status).toBe(409)
    expect((await provision(merchant(crypto.randomUUID()), row?.key_id)).status).toBe(409)
    expect(await provision(caller, row?.key_id)).toMatchObject({ status: 202, body: { id } })
  })
})

describe('uninstalling', () => {
  test('before the consent calls nobody; twice is 202 and one act', async () => {
    const { uninstall, get, calls, acts } = await requested()
    expect([(await uninstall()).status, (await uninstall()).status]).toEqual([202, 202])
    expect(await get()).toMatchObject({ state: 'UNINSTALLED', requested_scopes: [] })
    expect(await calls()).toEqual([])
    expect(await acts()).toEqual(['merchant installation.created', 'merchant installation.uninstalled'])
  })

  test('an ACTIVE app adds one call, and one during a provision replaces the provision', async () => {
    const active = await installed()
    await active.uninstall()
    expect(await active.calls()).toMatchObject([{ kind: 'uninstall', key_id: null }])
    const pending = await requested()
    await pending.consent()
    await pending.uninstall()
    expect(await pending.calls()).toMatchObject([{ kind: 'uninstall', key_id: expect.any(String) }])
  })

  test('of consent and uninstalling at the same moment, the app is uninstalled in the end', async () => {
    for (let round = 0; round < 10; round++) {
      const { consent, uninstall, get, calls } = await requested()
      await Promise.all([consent(), uninstall(), consent(), uninstall()])
      expect((await get()).state).toBe('UNINSTALLED')
      for (const { kind } of await calls()) expect(kind).toBe('uninstall')
    }
  })
})

describe('a session', () => {
  test('has the claims of OP-83, with the audience of the manifest', async () => {
    const { path, app, caller } = await installed({ audience: 'https://aud.example', scopes: ['sale'] })
    const { status, body } = await send<AppSession>(caller, 'POST', `${path}/session`)
    expect(status).toBe(201)
    expect(body).toMatchObject({ provider: app.provider, origin: 'https://app.example', embed: '/embed' })
    const { iat = 0, ...claims } = decodeJwt(body.token)
    expect(claims).toEqual({
      iss: 'https://platform.test',
      aud: 'https://aud.example',
      exp: iat + 300,
      wid: caller.workspaceId,
      wsn: 'Shop',
      wsd: 'shop.example',
      purpose: 'session',
      provider: app.provider,
      scopes: ['sale'],
    })
    expect(body.expires_at).toBe(new Date((iat + 300) * 1000).toISOString())
  })

  test('is for an ACTIVE app only', async () => {
    const pending = await requested()
    const session = (path: string) => send(pending.caller, 'POST', `${path}/session`)
    expect((await session(pending.path)).status).toBe(409)
    await pending.consent()
    expect((await session(pending.path)).status).toBe(409)
    await pending.uninstall()
    expect((await session(pending.path)).status).toBe(409)
  })
})

test('a suspended app has no session, no checkout and no new installation, and goes on when it is resumed (OP-228)', async () => {
  const { app, caller, path } = await installed({ checkout: { path: '/pay' } })
  const refusals = async () => {
    const order = { provider: app.provider, orderId: crypto.randomUUID(), amountMinor: 1, currency: 'EUR' }
    const answers = await Promise.all([
      send<{ error: { message: string } }>(caller, 'POST', `${path}/session`),
      send<{ error: { message: string } }>(caller, 'POST', '/internal/checkout', order),
      install(merchant(crypto.randomUUID()), app.provider),
    ])
    return answers.map(({ status }) => status)
  }
  // The app is not there: a checkout that is tried is service_unavailable.
  expect(await refusals()).toEqual([201, 503, 201])
  const change = (verb: string) => send<AppStatus>(operator, 'POST', `/internal/apps/${app.id}/${verb}`, {})
  expect((await change('suspend')).body).toMatchObject({ status: 'SUSPENDED', in_force: false })
  expect(await refusals()).toEqual([409, 422, 409])
  expect((await change('resume')).body).toMatchObject({ status: 'ACTIVE' })
  expect((await refusals())[0]).toBe(201)
})

test('ten suspensions at once are one act; a later change is later, whatever the clock says (OP-228)', async () => {
  const app = await anApp()
  const change = (verb: string) => send<AppStatus>(operator, 'POST', `/internal/apps/${app.id}/${verb}`, {})
  const answers = await Promise.all(Array.from({ length: 10 }, () => change('suspend')))
  expect(new Set(answers.map(({ body }) => body.changed_at)).size).toBe(1)
  expect(await acts(`apps/${app.id}`)).toEqual(['operator Ann app.registered', 'operator Ann app.suspended'])
  await admin`update app set suspension_changed_at = now() + interval '1 hour' where id = ${app.id}`
  const [before] = await admin`select suspension_changed_at as at from app where id = ${app.id}`
  const { body } = await change('resume')
  expect(Date.parse(body.changed_at ?? '')).toBeGreaterThan(Number(before?.at))
  expect((await send(operator, 'POST', `/internal/apps/${crypto.randomUUID()}/suspend`, {})).status).toBe(404)
})

describe('another workspace', () => {
  test.each([
    ['GET', ''],
    ['POST', '/consent'],
    ['POST', '/decline'],
    ['POST', '/session'],
    ['DELETE', ''],
  ] as const)('%s …%s of its installation is not_found, and an operator may', async (method, act) => {
    const { path, get, again, update } = await installed()
    await update({ scopes: ['*'] })
    await again()
    const before = await get()
    expect((await send(merchant(crypto.randomUUID()), method, `${path}${act}`)).status).toBe(404)
    expect(await get()).toEqual(before)
    expect((await send(operator, method, `${path}${act}`)).status).toBeLessThan(300)
    expect((await send(operator, method, `/internal/installations/${crypto.randomUUID()}${act}`)).status).toBe(404)
  })

  test('has rows that the role of requests does not see, of installations and of calls', async () => {
    const { id, caller, consent } = await requested()
    await consent()
    const context = { workspaceId: crypto.randomUUID(), livemode: true, traceparent: '' }
    for (const [workspaceId, count] of [
      [caller.workspaceId, 1],
      [context.workspaceId, 0],
    ] as const) {
      const seen = await db.inWorkspace({ ...context, workspaceId }, async (tx) => [
        await tx`select from installation where id = ${id}`,
        await tx`select from call where installation_id = ${id}`,
        await tx`update call set attempts = attempts where installation_id = ${id}`,
      ])
      expect(seen.map((rows) => rows.count)).toEqual([count, count, count])
    }
    const worker = openDatabase({ url: workerUrl, applicationName: 'test' })
    whenDone(() => worker.stop?.())
    await expect(worker.sql`delete from call`).rejects.toThrow('permission denied')
    await expect(worker.sql`update installation set state = 'ACTIVE'`).rejects.toThrow('permission denied')
  })

  test('lists nothing of the whole platform, as operators do (OP-230)', async () => {
    await requested()
    const list = (by: Caller) => send<{ total: number }>(by, 'GET', '/internal/all-installations')
    expect((await list(operator)).body.total).toBeGreaterThan(0)
    expect((await list(merchant(crypto.randomUUID()))).body).toMatchObject({ total: 0, items: [] })
  })

  test("lists its own installations only, newest first, the ended ones too; an operator's token lists none of them", async () => {
    const { caller, app, id, uninstall, again } = await requested()
    await uninstall()
    const second = (await again()).body.id
    const other = await anApp()
    const third = (await install(caller, other.provider)).body.id
    const list = async (by: Caller) =>
      (await send<{ items: Installation[] }>(by, 'GET', '/internal/installations')).body.items
    expect((await list(caller)).map((item) => item.id)).toEqual([third, second, id])
    expect((await list(caller)).at(-1)).toMatchObject({ provider: app.provider, state: 'UNINSTALLED' })
    expect(await list(merchant(crypto.randomUUID()))).toEqual([])
  })
})

describe('GET /v1/apps and /v1/apps/{provider}', () => {
  test('show the PENDING and ACTIVE apps of the workspace, newest first, in pages', async () => {
    const webhooks = { path: '/hook', events: ['order.paid'] }
    const { caller, app, id } = await installed({ webhooks, checkout: { path: '/pay' } })
    const gone = await anApp()
    const { body: ended } = await install(caller, gone.provider)
    await send(caller, 'DELETE', `/internal/installations/${ended.id}`)
    const waiting = await anApp()
    await install(caller, waiting.provider)
    await admin`update installation set last_error = '/install/provision: answered 500' where id = ${id}`
    const reader = { ...caller, scopes: ['app::read'] }
    const { body } = await send<{ items: InstalledApp[]; total: number }>(reader, 'GET', '/v1/apps?limit=1&page=2')
    expect(body).toMatchObject({ page: 2, size: 1, total: 2 })
    const shown = {
      id,
      provider: app.provider,
      state: 'ACTIVE',
      scopes: ['product::read'],
      webhooks,
      checkout: { path: '/pay' },
      last_error: '/install/provision: answered 500',
    }
    expect(body.items).toMatchObject([shown])
    expect((await send(reader, 'GET', `/v1/apps/${app.provider}`)).body).toEqual(body.items[0])
    expect((await send(reader, 'GET', `/v1/apps/${gone.provider}`)).status).toBe(404)
    expect((await send(reader, 'GET', '/v1/apps/nobody')).status).toBe(404)
    expect((await send(reader, 'GET', '/v1/apps/NO..')).status).toBe(400)
    expect((await send(aCaller(), 'GET', `/v1/apps/${app.provider}`)).status).toBe(404)
  })

  test.each([
    [['app'], 200],
    [['*'], 200],
    [['app::update', 'product'], 403],
    [[], 403],
  ])('need app::read: %j', async (scopes, status) => {
    expect((await send(aCaller({ scopes }), 'GET', '/v1/apps')).status).toBe(status)
  })

  test('send as many statements for many apps as for one', async () => {
    const caller = aCaller()
    const count = async () => {
      takeStatements()
      await send(caller, 'GET', '/v1/apps')
      return takeStatements().length
    }
    await install(caller, (await anApp()).provider)
    const one = await count()
    for (let more = 0; more < 5; more++) await install(caller, (await anApp()).provider)
    expect(await count()).toBe(one)
  })
})

describeWalks('apps', {
  send,
  async list() {
    const caller = merchant(crypto.randomUUID())
    const insert = async (by: Caller) => (await install(by, (await anApp()).provider)).body.id
    for (let n = 0; n < 10; n++) await insert(caller)
    return {
      caller: { ...caller, scopes: ['app::read'] },
      path: '/v1/apps',
      foreign: await insert(merchant(crypto.randomUUID())),
      insert: () => insert(caller),
      change: (id) => admin`update installation set workspace_name = 'Changed' where id = ${id}`,
    }
  },
})
