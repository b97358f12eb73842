import type { App, AppDraft, Installation } from '@backoffice/contracts/app.ts'
import type { AppManifest } from '@backoffice/contracts/app-manifest.ts'
import type { Caller } from '@backoffice/http/internal-token.ts'
import { aCaller } from '@backoffice/testing/caller.ts'
import { describe, expect, test } from 'vitest'
import { appsApi, operator } from '../testing/apps-api.ts'

const { send, admin, anApp, install, acknowledge, acts, db } = await appsApi({ allowLoopback: false })
const addresses = ['8.8.8.8', '10.0.0.1']
const inside = await appsApi({ allowLoopback: false, addresses })

const DRAFTS = '/v1/sandbox/apps'
const ORIGIN = 'https://app.example'
const aSandbox = (differences: Partial<Caller> = {}) => aCaller({ livemode: false, ...differences })
const aManifest = (differences: Partial<AppManifest> = {}) => ({
  provider: 'example-pay',
  scopes: ['product::read'],
  embed: '/embed',
  ...differences,
})
const prefixOf = ({ workspaceId }: Caller) => `draft-${workspaceId.slice(-12)}-`

interface Refusal {
  readonly error: { readonly code: string; readonly message: string }
}
type Answer = AppDraft & Refusal

const register = (by: Caller, differences: Partial<AppManifest> = {}, origin = ORIGIN) =>
  send<Answer>(by, 'POST', DRAFTS, { origin, manifest: aManifest(differences) })
const consent = (by: Caller, { id, scopes }: Pick<AppDraft, 'id' | 'scopes'>) =>
  send<Answer>(by, 'POST', `${DRAFTS}/${id}/install`, { scopes })
const read = async (by: Caller, id: string) => (await send<Answer>(by, 'GET', `${DRAFTS}/${id}`)).body
const update = (by: Caller, id: string, differences: Partial<AppManifest>, origin?: string) =>
  send<Answer>(by, 'PUT', `${DRAFTS}/${id}`, { origin, manifest: aManifest(differences) })
const refused = (status: number, code: string, message: string) => ({
  status,
  body: { error: { code, message: expect.stringContaining(message) } },
})

/** A draft in a sandbox of its own. */
async function aDraft(differences: Partial<AppManifest> = {}) {
  const sandbox = aSandbox()
  const { body } = await register(sandbox, differences)
  return { sandbox, draft: body }
}

describe('a draft', () => {
  test("of a session of support is its act, not the merchant's (OP-239)", async () => {
    const { status, body } = await register(aSandbox({ who: 'support' }))
    expect(status).toBe(201)
    expect(await acts(`apps/${body.id}`)).toEqual(['support session key app.registered'])
  })

  test('is registered, listed and changed with a key of the sandbox, and has names of its own', async () => {
    const sandbox = aSandbox()
    const { status, body } = await register(sandbox, { audience: 'https://pay.example' })
    expect(status).toBe(201)
    expect(body).toMatchObject({
      provider: `${prefixOf(sandbox)}example-pay`,
      audience: `${prefixOf(sandbox)}https://pay.example`,
      name: 'example-pay',
      origin: ORIGIN,
      version: 1,
      installation: null,
    })
    expect((await send<{ items: AppDraft[] }>(sandbox, 'GET', DRAFTS)).body.items).toEqual([body])
    const changed = await update(sandbox, body.id, { name: 'Pay', audience: 'https://pay.example' })
    expect(changed).toMatchObject({ status: 200, body: { name: 'Pay', version: 2, provider: body.provider } })
    expect(await read(sandbox, body.id)).toEqual(changed.body)
    expect(await acts(`apps/${body.id}`)).toEqual(['key key app.registered', 'key key app.updated'])
  })

  test('keeps its names when it is put back as it was read, also with the longest one', async () => {
    const sandbox = aSandbox()
    const provider = 'x'.repeat(45)
    const { body } = await register(sandbox, { provider, audience: 'https://pay.example' })
    const names = { provider: body.provider, audience: body.audience, name: body.name }
    expect(await update(sandbox, body.id, names)).toMatchObject({ status: 200, body: names })
    expect(await update(sandbox, body.id, { provider: body.provider })).toMatchObject({
      status: 200,
      body: { provider: body.provider, name: provider },
    })
    expect(await register(sandbox, names)).toMatchObject(refused(409, 'conflict', `${body.provider} is there already`))
  })

  test('takes no name with the prefix that is refused without it', async () => {
    const sandbox = aSandbox()
    for (const provider of ['support', 'x'.repeat(46)]) {
      expect(await register(sandbox, { provider: `${prefixOf(sandbox)}${provider}` })).toMatchObject(
        refused(400, 'bad_request', 'manifest.provider: must'),
      )
    }
  })

  test('is checked as an app of the platform is: manifest, origin and its addresses', async () => {
    const sandbox = aSandbox()
    expect(await register(sandbox, { scopes: ['products'] })).toMatchObject(
      refused(400, 'bad_request', 'manifest.scopes[0]: is not a scope'),
    )
    expect(await register(sandbox, { provider: 'support' })).toMatchObject(
      refused(400, 'bad_request', 'manifest.provider: must be another name'),
    )
    expect((await register(sandbox, { provider: 'x'.repeat(46) })).status).toBe(400)
    expect((await register(sandbox, {}, 'http://app.example')).status).toBe(400)
    expect((await register(sandbox, {}, 'https://10.0.0.1')).status).toBe(422)
    const body = { origin: ORIGIN, manifest: aManifest() }
    expect((await inside.send(sandbox, 'POST', DRAFTS, body)).status).toBe(422)
    expect(await admin`select from app where sandbox_id = ${sandbox.workspaceId}`).toEqual([])
  })

  test('is answered to a repeated request as before, wherever the name of its origin leads by then (OP-08)', async () => {
    const sandbox = aSandbox()
    const body = { origin: ORIGIN, manifest: aManifest() }
    const request = () => inside.send<Answer>(sandbox, 'POST', DRAFTS, body, { 'idempotency-key': 'first' })
    const inner = addresses.pop() ?? ''
    const first = await request()
    addresses.push(inner)
    expect(first.status).toBe(201)
    expect(await request()).toMatchObject({ status: 201, body: { id: first.body.id } })
  })

  test('is refused to a live key, and to the key of an app', async () => {
    const live = await register(aCaller())
    expect(live).toMatchObject(refused(403, 'insufficient_scope', 'begins with sk_test_'))
    expect(live.headers['error-reason']).toBe('sandbox_only')
    const app = await register(aSandbox({ appKeyId: crypto.randomUUID() }))
    expect(app).toMatchObject(refused(403, 'insufficient_scope', "An app's key"))
  })

  test('takes no name of an app of the platform, and leaves it free', async () => {
    const published = await anApp()
    const sandbox = aSandbox()
    expect((await register(sandbox, { provider: published.provider })).status).toBe(201)
    const provider = `app-${crypto.randomUUID().slice(0, 8)}`
    const drafts = await Promise.all([aSandbox(), aSandbox()].map((by) => register(by, { provider })))
    expect(drafts.map(({ status }) => status)).toEqual([201, 201])
    const body = { origin: ORIGIN, manifest: aManifest({ provider }) }
    expect((await send(operator, 'POST', '/internal/apps', body)).status).toBe(201)
  })

  test('is there once, and ten of them: also of twenty at once', async () => {
    const sandbox = aSandbox()
    const same = await Promise.all(Array.from({ length: 5 }, () => register(sandbox)))
    expect(same.map(({ status }) => status).toSorted()).toEqual([201, 409, 409, 409, 409])
    const others = Array.from({ length: 20 }, (_, index) => register(sandbox, { provider: `app-${index}` }))
    const answers = await Promise.all(others)
    expect(answers.filter(({ status }) => status === 201)).toHaveLength(9)
    expect(answers.find(({ status }) => status === 409)).toMatchObject(refused(409, 'conflict', 'has 10 drafts'))
    expect(await admin`select from app where sandbox_id = ${sandbox.workspaceId}`).toHaveLength(10)
  })

  test('is not found by another workspace, whatever it asks', async () => {
    const { draft } = await aDraft()
    for (const stranger of [aSandbox(), aCaller()]) {
      for (const [method, path, body] of [
        ['GET', '', undefined],
        ['PUT', '', { manifest: aManifest() }],
        ['DELETE', '', undefined],
        ['POST', '/install', { scopes: draft.scopes }],
      ] as const) {
        expect((await send(stranger, method, `${DRAFTS}/${draft.id}${path}`, body)).status).toBe(404)
      }
      expect((await send<{ total: number }>(stranger, 'GET', DRAFTS)).body.total).toBe(0)
    }
  })

  test('is no app of the platform, nor is one of these a draft', async () => {
    const { sandbox, draft } = await aDraft()
    const { body } = await send<{ items: App[] }>(operator, 'GET', '/internal/apps?limit=100')
    expect(body.items.map(({ id }) => id)).not.toContain(draft.id)
    const published = await anApp()
    expect((await send(sandbox, 'DELETE', `${DRAFTS}/${published.id}`)).status).toBe(404)
    expect((await update(sandbox, published.id, {})).status).toBe(404)
  })

  test('cannot be installed elsewhere, not even by an operator: the database does not show it', async () => {
    const { sandbox, draft } = await aDraft()
    expect((await install(aSandbox(), draft.provider)).status).toBe(422)
    const context = { workspaceId: crypto.randomUUID(), livemode: true, traceparent: 'none' }
    expect(await db.inWorkspace(context, (tx) => tx`select from app where id = ${draft.id}`)).toEqual([])
    expect((await install(sandbox, draft.provider)).status).toBe(201)
  })
})

describe('an installation of a draft', () => {
  test('begins with the consent to exactly its scopes, and goes on as any other', async () => {
    const { sandbox, draft } = await aDraft({ scopes: ['product::read', 'sale'] })
    expect(await consent(sandbox, { ...draft, scopes: ['product::read'] })).toMatchObject(
      refused(409, 'conflict', 'scopes: must be those that the draft asks for: product::read, sale'),
    )
    const { status, body } = await consent(sandbox, draft)
    expect(status).toBe(202)
    expect(body.installation).toMatchObject({ state: 'PENDING', scopes: ['product::read', 'sale'], last_error: null })
    const id = body.installation?.id ?? ''
    const calls = () => admin`select kind, manifest from call where installation_id = ${id}`
    expect(await calls()).toEqual([{ kind: 'provision', manifest: expect.objectContaining({ scopes: draft.scopes }) }])
    const { body: seen } = await send<Installation>(operator, 'GET', `/internal/installations/${id}`)
    expect(seen).toMatchObject({ livemode: false, workspace: sandbox.workspaceId, provider: draft.provider })
    await acknowledge(id)
    expect((await read(sandbox, draft.id)).installation?.state).toBe('ACTIVE')
    expect(await consent(sandbox, draft)).toMatchObject(refused(409, 'conflict', 'asks for nothing new'))
    const { body: wider } = await update(sandbox, draft.id, { scopes: ['product'] })
    expect((await consent(sandbox, wider)).status).toBe(202)
    expect(await calls()).toMatchObject([{ kind: 'provision', manifest: { scopes: ['product'] } }])
  })

  test('makes a provision that waits at once, asked for again', async () => {
    const { sandbox, draft } = await aDraft()
    await consent(sandbox, draft)
    await admin`update call set attempts = 5, due_at = now() + interval '1 hour' where app_id = ${draft.id}`
    expect((await consent(sandbox, draft)).status).toBe(202)
    expect(await admin`select attempts, due_at <= now() as due from call where app_id = ${draft.id}`).toEqual([
      { attempts: 1, due: true },
    ])
  })

  test.each<[Partial<AppManifest>, string[], boolean]>([
    [{ scopes: ['product::read'] }, ['app', 'product::read'], true],
    [{ scopes: ['product::read'] }, ['app', 'product'], true],
    [{ scopes: ['*'] }, ['*'], true],
    [{ scopes: ['product::read', 'sale::read'] }, ['app', 'product'], false],
    [{ scopes: ['product'] }, ['app', 'product::read', 'product::create', 'product::update'], false],
    [{ scopes: ['*'] }, ['app', 'product', 'sale', 'customer', 'import', 'webhook', 'workspace'], false],
    [{ webhooks: { path: '/hooks', events: ['*'] } }, ['app', 'product'], false],
    [{ webhooks: { path: '/hooks', events: ['*'] } }, ['app', 'product', 'webhook'], true],
  ])('gets no more than the key has that installs it: %j by %j', async (differences, scopes, isAllowed) => {
    const sandbox = aSandbox({ scopes })
    const { body } = await register(sandbox, differences)
    const answer = await consent(sandbox, body)
    if (isAllowed) expect(answer.status).toBe(202)
    else expect(answer).toMatchObject(refused(403, 'insufficient_scope', 'which this API key lacks'))
    expect(await admin`select from call where workspace_id = ${sandbox.workspaceId}`).toHaveLength(isAllowed ? 1 : 0)
  })

  test('goes to no other origin by a key that has less than the app', async () => {
    const { sandbox, draft } = await aDraft({ scopes: ['sale'] })
    await consent(sandbox, draft)
    const weaker = { ...sandbox, scopes: ['app'] }
    const moved = await update(weaker, draft.id, { scopes: ['app'] }, 'https://elsewhere.example')
    expect(moved).toMatchObject(refused(403, 'insufficient_scope', 'would get sale'))
    expect((await read(sandbox, draft.id)).origin).toBe(ORIGIN)
    expect((await update(weaker, draft.id, { scopes: ['app'] })).status).toBe(200)
    expect((await update(sandbox, draft.id, {}, 'https://elsewhere.example')).status).toBe(200)
  })

  test('is refused while ten calls to the app wait', async () => {
    const { sandbox, draft } = await aDraft()
    for (let round = 0; round < 10; round++) {
      expect((await consent(sandbox, draft)).status).toBe(202)
      expect((await send(sandbox, 'DELETE', `/v1/apps/${draft.provider}`)).status).toBe(204)
    }
    expect(await consent(sandbox, draft)).toMatchObject(refused(409, 'conflict', '10 calls to the app wait'))
  })
})

test('a deleted draft is gone at once; its name is free once it is uninstalled, and other names stay taken', async () => {
  const { sandbox, draft } = await aDraft()
  expect((await send(sandbox, 'DELETE', `${DRAFTS}/${draft.id}`)).status).toBe(204)
  expect((await send(sandbox, 'GET', `${DRAFTS}/${draft.id}`)).status).toBe(404)
  expect(await register(sandbox)).toMatchObject(refused(409, 'conflict', 'is being deleted'))
  // As the sweep does when no installation is left.
  await admin`delete from app where id = ${draft.id}`
  expect((await register(sandbox)).status).toBe(201)
  const published = await anApp()
  await admin`delete from app where id = ${published.id}`
  const body = { origin: ORIGIN, manifest: published.manifest }
  expect((await send(operator, 'POST', '/internal/apps', body)).status).toBe(409)
})

test('a draft from before a reset is named as what has the name, until it is uninstalled', async () => {
  const { sandbox, draft } = await aDraft({ audience: 'pay' })
  const live = sandbox.workspaceId.slice(-12)
  const anew = aSandbox({ workspaceId: `${crypto.randomUUID().slice(0, 24)}${live}` })
  const former = 'is of a draft from before the reset, which is being deleted; it is free once that app has heard'
  expect(await register(anew)).toMatchObject(refused(409, 'conflict', `manifest.provider: ${draft.provider} ${former}`))
  const other = { provider: 'other-pay', audience: 'pay' }
  expect(await register(anew, other)).toMatchObject(
    refused(409, 'conflict', `manifest.audience: ${draft.audience} ${former}`),
  )
  await admin`delete from app where id = ${draft.id}`
  expect((await register(anew)).status).toBe(201)
})
