import { readFileSync } from 'node:fs'
import type { App } from '@backoffice/contracts/app.ts'
import { aCaller } from '@backoffice/testing/caller.ts'
import { describe, expect, test } from 'vitest'
import { appsApi, operator } from '../testing/apps-api.ts'

const { send, anApp, acts, admin } = await appsApi({ allowLoopback: false })
const inside = await appsApi({ allowLoopback: false, addresses: ['8.8.8.8', '10.0.0.1'] })

const aManifest = () => ({ provider: `app-${crypto.randomUUID()}`, scopes: ['product::read'], embed: '/embed' })
const register = (body: unknown) => send<App & ErrorAnswer>(operator, 'POST', '/internal/apps', body)
const registerManifest = (manifest: unknown) => register({ origin: 'https://app.example', manifest })

interface ErrorAnswer {
  readonly error: { readonly code: string; readonly message: string }
}

test('an app is registered with its manifest, its provider as name and audience, and version 1 (OP-80)', async () => {
  const manifest = {
    ...aManifest(),
    webhooks: { path: '/hooks/{workspace}', events: ['order.paid'] },
    checkout: { path: '/pay' },
  }
  const { status, body } = await register({ origin: 'https://App.example:443/', manifest })
  expect(status).toBe(201)
  const { provider, ...members } = manifest
  const derived = { origin: 'https://app.example', name: provider, audience: provider, version: 1 }
  expect(body).toMatchObject({ ...members, ...derived, provider })
  expect((await send(operator, 'GET', `/internal/apps/${body.id}`)).body).toEqual(body)
  expect(await acts(`apps/${body.id}`)).toEqual(['operator Ann app.registered'])
})

describe('a wrong manifest is bad_request, and the message names the member', () => {
  const long = 'x'.repeat(300)
  test.each<[Record<string, unknown>, string]>([
    [{ provider: undefined }, 'manifest.provider: is required'],
    [{ provider: 'A' }, 'manifest.provider: '],
    [{ provider: 'Stripe' }, 'manifest.provider: must be lower case letters'],
    [{ provider: '../x' }, 'manifest.provider: '],
    [{ provider: 'a--b' }, 'manifest.provider: '],
    [{ provider: 'a'.repeat(65) }, 'manifest.provider: '],
    [{ name: '' }, 'manifest.name: '],
    [{ name: ' \t' }, 'manifest.name: must not be blank'],
    [{ name: 'x'.repeat(101) }, 'manifest.name: '],
    [{ name: 'Support' }, 'manifest.name: must be another name'],
    [{ provider: 'system' }, 'manifest.provider: must be another name'],
    [{ provider: 'mer-chant' }, 'manifest.provider: must be another name'],
    [{ name: 7 }, 'manifest.name: must be a string'],
    [{ name: null }, 'manifest.name: must be a string'],
    [{ audience: '' }, 'manifest.audience: '],
    [{ audience: long }, 'manifest.audience: '],
    [{ scopes: undefined }, 'manifest.scopes: is required'],
    [{ scopes: 'product::read' }, 'manifest.scopes: must be an array'],
    [{ scopes: [] }, 'manifest.scopes: '],
    [{ scopes: ['product::read', 'products'] }, 'manifest.scopes[1]: is not a scope'],
    [{ scopes: ['product', 'product'] }, 'manifest.scopes: has a scope twice'],
    [{ scopes: [['*']] }, 'manifest.scopes[0]: must be a string'],
    [{ embed: undefined }, 'manifest.embed: is required'],
    [{ embed: 'embed' }, 'manifest.embed: must be a path'],
    [{ embed: '//evil.example' }, 'manifest.embed: must be a path'],
    [{ embed: '/\\evil.example' }, 'manifest.embed: must be a path'],
    [{ embed: '/a/../b' }, 'manifest.embed: must not contain . or .. segments'],
    [{ embed: '/%2e%2e/b' }, 'manifest.embed: must not contain . or .. segments'],
    [{ embed: '/a?b=c' }, 'manifest.embed: must be a path'],
    [{ embed: '/a#b' }, 'manifest.embed: must be a path'],
    [{ embed: '/a b' }, 'manifest.embed: must be a path'],
    [{ embed: '/a\nb' }, 'manifest.embed: must be a path'],
    [{ embed: 'https://evil.example/' }, 'manifest.embed: must be a path'],
    [{ embed: `/${'x'.repeat(512)}` }, 'manifest.embed: '],
    [{ webhooks: null }, 'manifest.webhooks: must be an object'],
    [{ webhooks: {} }, 'manifest.webhooks.path: is required'],
    [{ webhooks: { path: '/h' } }, 'manifest.webhooks.events: is required'],
    [{ webhooks: { path: 'h', events: ['*'] } }, 'manifest.webhooks.path: must be a path'],
    [{ webhooks: { path: '/{id}', events: ['*'] } }, 'manifest.webhooks.path: must be a path such as /webhooks/{work'],
    [{ webhooks: { path: '/{{workspace}}', events: ['*'] } }, 'manifest.webhooks.path: must be a path'],
    [{ webhooks: { path: '/{workspace}?a=b', events: ['*'] } }, 'manifest.webhooks.path: must be a path'],
    [{ webhooks: { path: '/{workspace}/../x', events: ['*'] } }, 'manifest.webhooks.path: must not contain . or ..'],
    [{ embed: '/{workspace}' }, 'manifest.embed: must be a path'],
    [{ webhooks: { path: '/h', events: [] } }, 'manifest.webhooks.events: '],
    [
      { webhooks: { path: '/h', events: ['order.paid', 'order.eaten'] } },
      'manifest.webhooks.events[1]: is not an event',
    ],
    [{ webhooks: { path: '/h', events: ['*', 'order.paid'] } }, 'manifest.webhooks.events: "*" stands alone'],
    [{ webhooks: { path: '/h', events: ['*'], secret: 'x' } }, 'manifest.webhooks.secret: unknown member'],
    [{ checkout: {} }, 'manifest.checkout.path: is required'],
    [{ checkout: { path: '//x' } }, 'manifest.checkout.path: must be a path'],
    [{ checkout: { path: '/x', fee: 1 } }, 'manifest.checkout.fee: unknown member'],
    [{ admin: true }, 'manifest.admin: unknown member'],
    [{ name: 'a\u0000b' }, ''],
    [{ name: '\ud800' }, ''],
  ])('%j', async (difference, message) => {
    const { status, body } = await registerManifest({ ...aManifest(), ...difference })
    expect([status, body.error.code]).toEqual([400, 'bad_request'])
    expect(body.error.message).toContain(message)
  })

  test.each([[null], [[]], ['{}'], [7], [undefined]])('a manifest that is %j', async (manifest) => {
    const { status, body } = await registerManifest(manifest)
    expect([status, body.error.code]).toEqual([400, 'bad_request'])
    expect(body.error.message).toMatch(/^manifest: (must be an object|is required)/)
  })

  test('members named like those of an object are unknown members', async () => {
    const text = `{"origin":"https://app.example","manifest":{"__proto__":{"scopes":["*"]},"provider":"x1","embed":"/e"}}`
    expect((await register(text)).status).toBe(400)
  })

  test('a manifest of almost 1 MiB is refused with a short message, and a longer one is too large', async () => {
    const scopes = Array.from({ length: 60_000 }, (_, index) => `scope-${index}`)
    const { status, body } = await registerManifest({ ...aManifest(), scopes })
    expect(status).toBe(400)
    expect(body.error.message.length).toBeLessThan(2000)
    expect((await registerManifest({ ...aManifest(), name: 'x'.repeat(1024 * 1024) })).status).toBe(413)
  })
})

describe('an origin is refused, with the member origin in the message,', () => {
  test.each([
    ['http://app.example', 400, 'must be an https URL'],
    ['http://127.0.0.1:3000', 400, 'must be an https URL'],
    ['ftp://app.example', 400, 'must be'],
    ['javascript:alert(1)', 400, 'must be'],
    ['app.example', 400, 'must be'],
    ['', 400, 'must be'],
    ['https://app.example/path', 400, 'without a path'],
    ['https://app.example?', 400, 'without a path'],
    ['https://app.example#', 400, 'without a path'],
    ['https://user:password@app.example', 400, 'user name or password'],
    ['https://@app.example', 400, 'user name or password'],
    ['https://app.example:25', 400, 'must use port 443'],
    ['https://app.example\\@evil.example', 400, 'must be'],
    [' https://app.example', 400, 'must be'],
    ['https://127.0.0.1', 422, 'is not a public address'],
    ['https://10.0.0.1', 422, 'is not a public address'],
    ['https://[::1]', 422, 'is not a public address'],
    ['https://[::ffff:169.254.169.254]', 422, 'is not a public address'],
    ['https://0x7f.1', 422, 'is not a public address'],
  ])('%j', async (origin, status, message) => {
    const answer = await register({ origin, manifest: aManifest() })
    expect(answer.status).toBe(status)
    expect(answer.body.error.message).toContain('origin: ')
    expect(answer.body.error.message).toContain(message)
    expect(answer.body.error.message).not.toContain('password@')
  })

  test('when one of the addresses of its name is private, also in an update', async () => {
    const body = { origin: 'https://app.example', manifest: aManifest() }
    const answer = await inside.send(operator, 'POST', '/internal/apps', body)
    expect(answer).toMatchObject({
      status: 422,
      body: { error: { message: 'origin: app.example is not a public address' } },
    })
    const path = `/internal/apps/${crypto.randomUUID()}`
    expect((await inside.send(operator, 'PUT', path, body)).status).toBe(422)
  })
})

test('a provider is registered once, also by ten requests at once', async () => {
  const manifest = aManifest()
  const answers = await Promise.all(Array.from({ length: 10 }, () => registerManifest(manifest)))
  expect(answers.map(({ status }) => status).toSorted()).toEqual([201, ...Array(9).fill(409)])
  const refused = answers.find(({ status }) => status === 409)
  expect(refused?.body.error.message).toContain('manifest.provider: ')
  expect(await admin`select from app where provider = ${manifest.provider}`).toHaveLength(1)
})

describe('the provider and the audience of an app are names that no other app has or had (OP-225)', () => {
  const taken = (member: string, name: string) => ({
    status: 409,
    body: {
      error: { code: 'conflict', message: expect.stringContaining(`manifest.${member}: ${name} is or was the`) },
    },
  })

  test('neither as its audience nor as its provider, in a registration and in an update', async () => {
    const audience = `aud-${crypto.randomUUID()}`
    const app = await anApp({ audience })
    const sharing = { ...aManifest(), audience }
    expect(await registerManifest(sharing)).toMatchObject(taken('audience', audience))
    const imitating = { ...aManifest(), audience: app.provider }
    expect(await registerManifest(imitating)).toMatchObject(taken('audience', app.provider))
    expect(await registerManifest({ ...aManifest(), provider: audience })).toMatchObject(taken('provider', audience))
    const other = await anApp()
    const update = (manifest: unknown) => send(operator, 'PUT', `/internal/apps/${other.id}`, { manifest })
    expect(await update({ ...other.manifest, audience })).toMatchObject(taken('audience', audience))
    expect(await admin`select manifest from app where id = ${other.id}`).toEqual([{ manifest: other.manifest }])
  })

  test('also after the app has got another audience, which it may take back', async () => {
    const audience = `aud-${crypto.randomUUID()}`
    const app = await anApp({ audience })
    const update = (manifest: unknown) => send(operator, 'PUT', `/internal/apps/${app.id}`, { manifest })
    const { audience: _, ...without } = app.manifest
    expect((await update(without)).status).toBe(200)
    const again = await registerManifest(without)
    expect(again.body.error.message, 'whoever has lost the answer finds the app').toContain(
      `audience of app ${app.id};`,
    )
    expect(await registerManifest({ ...aManifest(), audience })).toMatchObject(taken('audience', audience))
    expect((await update(app.manifest)).status).toBe(200)
  })

  test('also when ten apps ask for one at once', async () => {
    const audience = `aud-${crypto.randomUUID()}`
    const answers = await Promise.all(Array.from({ length: 10 }, () => registerManifest({ ...aManifest(), audience })))
    expect(answers.map(({ status }) => status).toSorted()).toEqual([201, ...Array(9).fill(409)])
  })
})

test('an update replaces the manifest, counts the version and keeps the origin unless given', async () => {
  const app = await anApp({ checkout: { path: '/pay' } })
  const manifest = { ...app.manifest, scopes: ['sale'], checkout: undefined, name: 'Pay' }
  const first = await send<App>(operator, 'PUT', `/internal/apps/${app.id}`, { manifest })
  expect(first).toMatchObject({ status: 200, body: { version: 2, scopes: ['sale'], checkout: null, name: 'Pay' } })
  expect(first.body.origin).toBe('https://app.example')
  const origin = 'https://moved.example'
  const second = await send<App>(operator, 'PUT', `/internal/apps/${app.id}`, { origin, manifest })
  expect(second.body).toMatchObject({ version: 3, origin, created_at: app.created_at })
  // Repeated, it changes nothing.
  for (const body of [{ manifest }, { origin, manifest }]) {
    expect((await send<App>(operator, 'PUT', `/internal/apps/${app.id}`, body)).body).toEqual(second.body)
  }
  expect(await acts(`apps/${app.id}`)).toEqual([
    'operator Ann app.registered',
    ...Array(2).fill('operator Ann app.updated'),
  ])
})

const formerOf = async (id: string) =>
  (await admin<{ former: string[] }[]>`select former_origins as former from app where id = ${id}`)[0]?.former
const originsUpTo = (count: number) => Array.from({ length: count }, (_, n) => `https://at-${n}.example`)

test('the last twenty origins are kept, each once', async () => {
  const { id, manifest } = await anApp()
  const origins = [...originsUpTo(22), 'https://at-20.example', 'https://at-21.example']
  for (const origin of origins) await send(operator, 'PUT', `/internal/apps/${id}`, { origin, manifest })
  expect(await formerOf(id)).toEqual(originsUpTo(21).slice(1))
})

test('the migration cuts what an app has more, and leaves others as they are', async () => {
  const [long, short, none] = [await anApp(), await anApp(), await anApp()]
  const file = new URL('../../migrations/0011_last_origins.sql', import.meta.url)
  await admin`update app set former_origins = ${originsUpTo(100)} where id = ${long.id}`
  await admin`update app set former_origins = ${originsUpTo(20)} where id = ${short.id}`
  await admin.begin(async (tx) => {
    await tx`set local role backoffice_migrator`
    await tx.unsafe(readFileSync(file, 'utf8'))
  })
  expect(await formerOf(long.id)).toEqual(originsUpTo(100).slice(80))
  expect(await formerOf(short.id)).toEqual(originsUpTo(20))
  expect(await formerOf(none.id)).toEqual([])
})

test('updates at once each count a version', async () => {
  const { id, manifest } = await anApp()
  const update = (name: string) => send(operator, 'PUT', `/internal/apps/${id}`, { manifest: { ...manifest, name } })
  await Promise.all(['One', 'Two', 'Three', 'Four', 'Five'].map(update))
  expect((await send<App>(operator, 'GET', `/internal/apps/${id}`)).body.version).toBe(6)
})

test('an update that changes the provider or names no app is refused, and changes nothing', async () => {
  const app = await anApp()
  const manifest = { ...app.manifest, provider: 'another' }
  const answer = await send(operator, 'PUT', `/internal/apps/${app.id}`, { manifest })
  expect(answer).toMatchObject({ status: 422, body: { error: { code: 'unprocessable' } } })
  expect(answer.body.error.message).toContain(`manifest.provider: must stay ${app.provider}`)
  const path = `/internal/apps/${crypto.randomUUID()}`
  expect((await send(operator, 'PUT', path, { manifest })).status).toBe(404)
  expect((await send(operator, 'GET', path)).status).toBe(404)
  expect((await send<App>(operator, 'GET', `/internal/apps/${app.id}`)).body.version).toBe(1)
})

test('the list has every app, newest first, in pages', async () => {
  const apps = [await anApp(), await anApp()]
  const { body } = await send<{ items: App[]; total: number }>(operator, 'GET', '/internal/apps?limit=2')
  expect(body.items.map(({ id }) => id)).toEqual(apps.map(({ id }) => id).toReversed())
  expect(body).toMatchObject({ page: 1, size: 2 })
})

test('no key of a workspace reaches these operations without the token between services', async () => {
  expect((await send(aCaller(), 'GET', '/internal/apps', undefined, { 'x-internal-token': 'made-up' })).status).toBe(
    401,
  )
})
