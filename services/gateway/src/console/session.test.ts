import { randomUUID } from 'node:crypto'
import { testVerifier } from '@backoffice/testing/caller.ts'
import { eventually } from '@backoffice/testing/eventually.ts'
import { beforeEach, describe, expect, test } from 'vitest'
import type { IssuedToken } from '../admin/operators/issue-token.ts'
import { keyFormat } from '../credentials/keys/key-format.ts'
import { newSecret } from '../credentials/secret-text.ts'
import { testConsole } from '../testing/test-console.ts'
import { ADMIN_TOKEN, inventedKey, testGateway, testKeys } from '../testing/test-gateway.ts'
import { type Echo, echo } from '../testing/test-upstream.ts'

const gateway = await testGateway()
const { catalog } = gateway
const verify = testVerifier('catalog')
const callerIn = async ({ body }: { body: Echo }) =>
  (await verify(body.headers['x-internal-token'], new Date(gateway.now()))).caller

beforeEach(() => {
  catalog.answer = echo
  for (const { received } of Object.values(gateway.services)) received.length = 0
})

const login = async (scopes?: string[], sandbox?: boolean) => {
  const key = await gateway.aKey(scopes, sandbox)
  const browser = testConsole(gateway)
  const { status, body } = await browser.login(key.key)
  expect(status).toBe(201)
  return { ...key, browser, body }
}
const statusIn = async (browser: ReturnType<typeof testConsole>) =>
  (await browser.send('GET', '/console/api/v1/products')).status

describe('a session of a key', () => {
  test('begins with the key, is told to the browser, and is a cookie that no script and no other site has', async () => {
    const { browser, workspaceId, id, key, body } = await login(['product::read'], true)
    expect(body).toEqual({
      workspace: {
        kind: 'key',
        workspace: { id: workspaceId, name: 'Test', livemode: false },
        scopes: ['product::read'],
        key: { id, name: 'Test' },
        operator: null,
        reason: null,
        expires_at: expect.stringMatching(/Z$/),
      },
      operator: null,
    })
    expect(browser.lastCookie).toMatch(
      /^__Host-console=cs_test_[0-9a-f]{32}_\w{49}; Max-Age=28800; Path=\/; HttpOnly; SameSite=Strict; Secure$/,
    )
    expect(browser.lastCookie).not.toContain(key)
    expect((await browser.send('GET', '/console/session')).body).toEqual(body)
    const rows = await gateway.database.admin`select console_session::text as row from console_session`
    for (const { row } of rows) expect(row).not.toContain(browser.cookies.get('__Host-console'))
  })

  test('asks the API as its key, and services see that the console asks', async () => {
    const { browser, id } = await login(['product'])
    const answer = await browser.send<Echo>('GET', '/console/api/v1/products?page=2', {
      headers: { 'if-none-match': '"a"' },
    })
    expect(answer.status).toBe(200)
    expect(answer.body).toMatchObject({ url: '/v1/products?page=2', headers: { 'if-none-match': '"a"' } })
    expect(answer.body.headers).not.toHaveProperty('cookie')
    expect(await callerIn(answer)).toMatchObject({ keyId: id, scopes: ['product'], console: true })
    expect((await browser.send('GET', '/console/api/v1/me')).body).toMatchObject({ key: { id, kind: 'workspace' } })
    expect(answer.headers['cache-control']).toBe('private, no-store')
    const line = gateway.log.find((one) => one.request_id === answer.headers['x-request-id'])
    expect(line).toMatchObject({ path: '/v1/products', key_id: id, upstream: 'catalog', console: true })
  })

  test('asks services for what they offer the console alone', async () => {
    const { browser } = await login()
    const answer = await browser.send<Echo>('POST', '/console/api/collections/1/draft?a=b', { body: { a: 1 } })
    expect(answer).toMatchObject({
      status: 200,
      body: { method: 'POST', url: '/console/collections/1/draft?a=b', body: '{"a":1}' },
    })
    const { caller } = await testVerifier('collections')(
      answer.body.headers['x-internal-token'],
      new Date(gateway.now()),
    )
    expect(caller.console).toBe(true)
    expect((await browser.send('GET', '/console/api/products')).status).toBe(404)
  })

  test('ends with its key, and a look that tells so leaves the cookie to a login of meanwhile', async () => {
    const { browser, id } = await login()
    const cookie = browser.cookies.get('__Host-console')
    expect(await statusIn(browser)).toBe(200)
    await gateway.admin('DELETE', `/keys/${id}`)
    await eventually('the session is over', async () => (await statusIn(browser)) === 401)
    expect((await browser.send('GET', '/console/session')).body).toEqual({ workspace: null, operator: null })
    expect(browser.cookies.get('__Host-console')).toBe(cookie)
  })

  test('ends after half an hour without a request, and after eight hours', async () => {
    const { browser } = await login()
    await gateway.letTimePass(29 * 60_000)
    expect(await statusIn(browser)).toBe(200)
    await gateway.uses.write()
    for (let minutes = 29; minutes < 8 * 60 - 29; minutes += 29) {
      await gateway.letTimePass(29 * 60_000)
      expect([minutes, await statusIn(browser)]).toEqual([minutes, 200])
      await gateway.uses.write()
    }
    await gateway.letTimePass(29 * 60_000)
    expect(await statusIn(browser)).toBe(401)

    const late = await login()
    await gateway.letTimePass(29.5 * 60_000)
    expect(await statusIn(late.browser)).toBe(200)
    await gateway.letTimePass(59_000)
    expect([await statusIn(late.browser), 'its use is not written yet']).toEqual([200, 'its use is not written yet'])

    const idle = await login()
    await gateway.letTimePass(31 * 60_000)
    expect(await statusIn(idle.browser)).toBe(401)
  })

  test('ends when the browser says so', async () => {
    const { browser } = await login()
    const token = browser.cookies.get('__Host-console') ?? ''
    expect(await statusIn(browser)).toBe(200)
    expect((await browser.send('DELETE', '/console/session')).status).toBe(204)
    expect(browser.lastCookie).toContain('__Host-console=; Max-Age=0;')
    browser.cookies.set('__Host-console', token)
    await eventually('the session is over', async () => (await statusIn(browser)) === 401)
  })

  test('is one of fifty at most: one more ends the oldest', async () => {
    const { browser, key } = await login()
    const second = testConsole(gateway)
    await second.login(key)
    for (let count = 2; count <= 50; count++) await testConsole(gateway).login(key)
    await eventually('the first is over', async () => (await statusIn(browser)) === 401)
    expect(await statusIn(second)).toBe(200)
  })

  test('costs as many statements as its key', async () => {
    const { browser, key } = await login()
    await statusIn(browser)
    await gateway.send(key, 'GET', '/v1/products')
    gateway.passTime(6_000)
    const statements = async (send: () => Promise<unknown>) => {
      gateway.takeWorkerStatements()
      await send()
      return gateway.takeWorkerStatements().length
    }
    expect(await statements(() => statusIn(browser))).toBe(
      await statements(() => gateway.send(key, 'GET', '/v1/products')),
    )
    expect(await statements(() => statusIn(browser))).toBe(0)
  })
})

describe('what opens nothing', () => {
  test.each([
    ['/console/api/v1/products', 'GET'],
    ['/console/api/collections', 'GET'],
    ['/console/api/admin/v1/workspaces', 'GET'],
    ['/console/session', 'POST'],
    ['/console/session', 'DELETE'],
  ] as const)('%s by %s without the header of the pages', async (path, method) => {
    const { browser } = await login()
    expect(await browser.send(method, path, { headers: { 'x-requested-with': '' } })).toMatchObject({
      status: 403,
      body: { error: { code: 'insufficient_scope', message: expect.stringMatching(/^X-Requested-With: /) } },
    })
  })

  test.each<[string, Record<string, string>]>([
    ['another site', { 'sec-fetch-site': 'cross-site' }],
    ['another origin of the site', { 'sec-fetch-site': 'same-site' }],
    ['another origin', { 'sec-fetch-site': '', origin: 'https://elsewhere.example' }],
    ['no origin', { 'sec-fetch-site': '' }],
  ])('a change from %s', async (_what, headers) => {
    const { browser, key } = await login()
    expect((await browser.send('POST', '/console/api/v1/products', { body: {}, headers })).status).toBe(403)
    expect((await browser.login(key, headers)).status).toBe(403)
    expect((await browser.send('DELETE', '/console/session', { headers })).status).toBe(403)
    expect(catalog.received).toEqual([])
  })

  test('a session beside its cookie, and a key in a cookie or beside one', async () => {
    const { browser, key } = await login()
    const token = browser.cookies.get('__Host-console') ?? ''
    expect((await gateway.send(token, 'GET', '/v1/products')).status).toBe(401)
    expect((await gateway.send(undefined, 'GET', '/v1/products', { headers: { 'x-api-key': token } })).status).toBe(401)
    expect((await browser.login(token)).status).toBe(401)
    const ofKey = await browser.send('GET', '/console/api/v1/products', { headers: { authorization: `Bearer ${key}` } })
    expect(ofKey.status).toBe(401)
    browser.cookies.set('__Host-console', key)
    expect(await statusIn(browser)).toBe(401)
    expect((await browser.send('GET', '/console/session')).body).toMatchObject({ workspace: null })
  })

  test.each([
    ['none', undefined],
    ['10,000 characters', 'a'.repeat(10_000)],
    ['a wrong check', `${testKeys.textsOf(randomUUID(), true, newSecret(), 'cs')[0].slice(0, -1)}!`],
    ['an unknown session', testKeys.textsOf(randomUUID(), true, newSecret(), 'cs')[0]],
    ['two sessions', 'a; __Host-console=b'],
  ])('a cookie of %s', async (_what, text) => {
    const browser = testConsole(gateway)
    if (text !== undefined) browser.cookies.set('__Host-console', text)
    expect(await browser.send('GET', '/console/api/v1/products')).toMatchObject({
      status: 401,
      body: { error: { code: 'invalid_api_key' } },
    })
    expect(await browser.send('GET', '/console/session')).toMatchObject({ status: 200, body: { workspace: null } })
  })

  test('a cookie without the prefix that binds it to this host', async () => {
    const { browser } = await login()
    browser.cookies.set('console', browser.cookies.get('__Host-console') ?? '')
    browser.cookies.delete('__Host-console')
    expect(await statusIn(browser)).toBe(401)
  })

  test('a wrong credential, and a body that is none', async () => {
    const browser = testConsole(gateway)
    for (const credential of ['sk_live_x', 'op_x', 'x'])
      expect(await browser.login(credential)).toMatchObject({
        status: 401,
        body: { error: { code: 'invalid_api_key' } },
      })
    expect(await browser.send('POST', '/console/session', { body: {} })).toMatchObject({
      status: 400,
      body: { error: { message: expect.stringMatching(/^credential/) } },
    })
    const long = await browser.send('POST', '/console/session', { body: { credential: 'x'.repeat(5000) } })
    expect([long.status, long.body.error.message]).toEqual([413, 'body: is larger than 4096 bytes'])
    expect((await browser.send('DELETE', '/console/session', { body: 'x'.repeat(5000) })).status).toBe(413)
  })

  test('the key of an app', async () => {
    const { id, key } = await gateway.aKey()
    await gateway.database.admin`update api_key set kind = 'app', app_key_id = id where id = ${id}`
    const answer = await testConsole(gateway).login(key)
    expect(answer).toMatchObject({ status: 403, body: { error: { code: 'insufficient_scope' } } })
    expect(answer.headers['error-reason']).toBe('not_own_resource')
  })

  test.each([
    '/console/api/v1/../../admin/v1/workspaces',
    '/console/api/v1/%2e%2e/products',
    '/console/api/v1/..%2fadmin',
    '/console/api//v1/products',
    '/console/api/v1//products',
    '/console/api/v1x/products',
    '/console/api/v1%2fproducts',
    '/console/api/console/api/v1/products',
    '/console/api/internal/app-keys',
    '/console/api/collections/../products',
    '/console/api/collections/%2e%2e/internal/rows',
    '//console/api/v1/products',
  ])('%s', async (path) => {
    const { browser } = await login()
    expect((await browser.raw(path)).status).toBe(404)
    expect(Object.values(gateway.services).flatMap(({ received }) => received.map(({ url }) => url))).toEqual([])
  })

  test.each(['/%63onsole/api/v1/products', 'http://elsewhere/console/api/v1/products'])(
    '%s without the header: it is the console in each spelling',
    async (path) => {
      const { browser } = await login()
      expect((await browser.raw(path)).status).toBe(200)
      expect((await browser.raw(path, false)).status).toBe(403)
    },
  )

  test('another workspace', async () => {
    const [one, other] = [await login(), await login()]
    const callers = await Promise.all(
      [one, other].map(async ({ browser }) => callerIn(await browser.send<Echo>('GET', '/console/api/v1/products'))),
    )
    expect(callers.map(({ workspaceId }) => workspaceId)).toEqual([one.workspaceId, other.workspaceId])
    expect((await one.browser.send('GET', '/console/api/admin/v1/workspaces')).status).toBe(401)
  })
})

test('a page of the sandbox changes nothing in the live workspace that another tab has signed in to', async () => {
  const sandbox = await login(undefined, true)
  const { browser, workspaceId, key } = await login()
  const createIn = async (shown: string) => {
    const extras = { body: {}, headers: { 'x-console-workspace': shown } }
    return (await browser.send('POST', '/console/api/v1/products', extras)).status
  }
  expect(await createIn(workspaceId)).toBe(200)
  await browser.login(sandbox.key)
  expect(await createIn(sandbox.workspaceId)).toBe(200)
  await browser.login(key)
  expect(await createIn(sandbox.workspaceId)).toBe(401)
  expect(catalog.received).toHaveLength(2)
})

test('a flood of wrong cookies is limited as one of wrong keys, and a session works all the same', async () => {
  const flooded = await testGateway()
  const { key } = await flooded.aKey()
  const good = testConsole(flooded)
  await good.login(key)
  const browser = testConsole(flooded)
  browser.cookies.set('__Host-console', 'cs_live_x')
  const statuses: number[] = []
  for (let count = 0; count < 101; count++) statuses.push(await statusIn(browser))
  expect([statuses[99], statuses[100]]).toEqual([401, 429])
  flooded.log.length = 0
  expect(await statusIn(browser)).toBe(429)
  expect(flooded.log.filter((line) => 'path' in line)).toEqual([])
  expect(await statusIn(good)).toBe(200)
})

test.each([
  ['console', '/console/session', 100],
  ['operator', '/console/session', 20],
  ['operator', '/console/api/admin/v1/workspaces', 20],
])(
  'a flood of wrong %s cookies on %s is refused before the router, without a log line for each',
  async (kind, path, burst) => {
    const flooded = await testGateway()
    const { key } = await flooded.aKey()
    const browser = testConsole(flooded)
    const ask = async () => {
      browser.cookies.set(`__Host-${kind}`, 'cs_live_x')
      return (await browser.send('GET', path)).status
    }
    for (let count = 0; count < burst; count++) expect(await ask()).toBeLessThan(429)
    flooded.log.length = 0
    for (let count = 0; count < 10; count++) expect(await ask()).toBe(429)
    expect(flooded.log.filter((line) => 'path' in line)).toEqual([])
    expect((await browser.login(kind === 'console' ? key : ADMIN_TOKEN)).status).toBe(201)
    expect((await browser.send('GET', path)).status).toBe(200)
  },
)

test('a cookie that is over refuses neither a session beside it nor its sign-out, whatever others send from its address', async () => {
  const flooded = await testGateway()
  const others = testConsole(flooded)
  for (let count = 0; count < 101; count++) {
    others.cookies.set('__Host-console', 'cs_live_x')
    await statusIn(others)
  }
  const browser = testConsole(flooded)
  const over = () => browser.cookies.set('__Host-console', 'cs_live_y')
  over()
  expect((await browser.login(ADMIN_TOKEN)).status).toBe(201)
  expect(browser.cookies.has('__Host-console')).toBe(false)
  over()
  const { status, body } = await browser.send('GET', '/console/session')
  expect(status).toBe(200)
  expect(body).toMatchObject({ workspace: null, operator: { name: 'bootstrap' } })
  expect((await browser.send('DELETE', '/console/session?which=operator')).status).toBe(204)
})

test('a sign-out with an invented cookie costs no statement, and a flood of them is limited', async () => {
  const flooded = await testGateway()
  const browser = testConsole(flooded)
  const signOut = async (which: string, text: string) => {
    browser.cookies.set('__Host-console', text).set('__Host-operator', text)
    return (await browser.send('DELETE', `/console/session?which=${which}`)).status
  }
  const invented = () => keyFormat(undefined).textsOf(randomUUID(), true, newSecret(), 'cs')[0]
  flooded.takeWorkerStatements()
  const statuses = [await signOut('workspace', invented()), await signOut('workspace', inventedKey())]
  expect(statuses).toEqual([204, 204])
  expect(flooded.takeWorkerStatements()).toEqual([])
  for (let count = 0; count < 21; count++) statuses.push(await signOut('operator', invented()))
  expect(statuses.slice(-2)).toEqual([204, 429])
  expect(flooded.takeWorkerStatements().filter((text) => text.includes('delete'))).toEqual([])
})

test('what a browser asks of its session counts as a call of the key', async () => {
  const limited = await testGateway({ rateLimit: { perSecond: 1, burst: 3 } })
  const browser = testConsole(limited)
  await browser.login((await limited.aKey()).key)
  const statuses: number[] = []
  for (let count = 0; count < 3; count++) statuses.push((await browser.send('GET', '/console/session')).status)
  expect(statuses).toEqual([200, 200, 429])
})

describe('a session of an operator', () => {
  test('begins with the token, acts in its name, and ends with the operator', async () => {
    const { body: ada } = await gateway.admin<IssuedToken>('POST', '/operators', { name: 'Ada' })
    const browser = testConsole(gateway)
    await eventually('the token works', async () => (await browser.login(ada.token)).status === 201)
    expect(browser.lastCookie).toMatch(
      /^__Host-operator=cs_live_\w+; Max-Age=28800; Path=\/; HttpOnly; SameSite=Strict; Secure$/,
    )
    expect((await browser.send('GET', '/console/session')).body).toEqual({
      workspace: null,
      operator: { name: 'Ada', expires_at: expect.any(String) },
    })
    const made = await browser.send<{ id: string }>('POST', '/console/api/admin/v1/workspaces', {
      body: { name: 'Made' },
    })
    expect(made.status).toBe(201)
    expect((await gateway.admin('GET', `/audit?workspace=${made.body.id}`)).body).toMatchObject({
      items: [{ who: 'operator', actor: 'Ada', action: 'workspace.created' }],
    })
    expect((await browser.send('GET', '/console/api/v1/products')).status).toBe(401)
    await gateway.admin('DELETE', `/operators/${ada.id}`)
    expect((await browser.send('GET', '/console/api/admin/v1/workspaces')).status).toBe(401)
  })

  test('ends when its token is replaced: whoever had found the token may have begun it', async () => {
    const { body: eve } = await gateway.admin<IssuedToken>('POST', '/operators', { name: 'Eve' })
    const browser = testConsole(gateway)
    await eventually('the token works', async () => (await browser.login(eve.token)).status === 201)
    const { body } = await gateway.admin<IssuedToken>('POST', `/operators/${eve.id}/rotate`, {})
    expect((await browser.send('GET', '/console/api/admin/v1/operators')).status).toBe(401)
    expect((await browser.login(body.token)).status).toBe(201)
    expect((await browser.send('GET', '/console/api/admin/v1/operators')).status).toBe(200)
  })

  test('of a token that is being replaced ends with the overlap', async () => {
    const { body: max } = await gateway.admin<IssuedToken>('POST', '/operators', { name: 'Max' })
    const { body } = await gateway.admin<IssuedToken>('POST', `/operators/${max.id}/rotate`, { overlap_seconds: 3600 })
    const [before, after] = [testConsole(gateway), testConsole(gateway)]
    await eventually('the token works', async () => (await after.login(body.token)).status === 201)
    expect((await before.login(max.token)).status).toBe(201)
    const endOf = async (browser: typeof before) =>
      (await browser.send<{ operator: { expires_at: string } }>('GET', '/console/session')).body.operator.expires_at
    const [row] = await gateway.database.admin`select revoked_at from operator_token where id = ${max.id}`
    expect(await endOf(before)).toBe(row?.revoked_at.toISOString())
    expect((Date.parse(await endOf(after)) - Date.now()) / 3_600_000).toBeGreaterThan(7)
  })

  test('is looked for once by a token of the platform that opens none, such as that of a merchant', async () => {
    const { browser } = await login()
    browser.cookies.set('__Host-operator', browser.cookies.get('__Host-console') ?? '')
    const ask = async () => (await browser.send('GET', '/console/api/admin/v1/workspaces')).status
    expect(await ask()).toBe(401)
    gateway.takeWorkerStatements()
    expect(await ask()).toBe(401)
    expect(gateway.takeWorkerStatements()).toEqual([])
  })

  test('reads while PostgreSQL is read-only', async () => {
    const browser = testConsole(gateway)
    await browser.login(ADMIN_TOKEN)
    await gateway.letTimePass(2 * 60_000)
    const { admin } = gateway.database
    const [{ name } = { name: '' }] = await admin<{ name: string }[]>`select current_database() as name`
    await admin`alter database ${admin(name)} set default_transaction_read_only = on`
    const replica = await testGateway({ database: gateway.database })
    const there = testConsole(replica)
    for (const [cookie, value] of browser.cookies) there.cookies.set(cookie, value)
    const { status } = await there.send('GET', '/console/api/admin/v1/operators')
    await admin`alter database ${admin(name)} reset default_transaction_read_only`
    expect(status).toBe(200)
  })

  test('ends when the browser says so, after half an hour without a request, and after eight hours', async () => {
    const workspaces = '/console/api/admin/v1/workspaces'
    const browser = testConsole(gateway)
    await browser.login(ADMIN_TOKEN)
    const token = browser.cookies.get('__Host-operator') ?? ''
    for (let count = 0; count < 16; count++) {
      await gateway.letTimePass(29 * 60_000)
      expect((await browser.send('GET', workspaces)).status).toBe(200)
      await gateway.uses.write()
    }
    await gateway.letTimePass(29 * 60_000)
    expect((await browser.send('GET', workspaces)).status).toBe(401)

    await browser.login(ADMIN_TOKEN)
    await gateway.letTimePass(31 * 60_000)
    expect((await browser.send('GET', workspaces)).status).toBe(401)

    await browser.login(ADMIN_TOKEN)
    expect((await browser.send('DELETE', '/console/session?which=operator')).status).toBe(204)
    browser.cookies.set('__Host-operator', token)
    expect((await browser.send('GET', workspaces)).status).toBe(401)
  })

  test('of bootstrap is one of fifty at most: one more ends the oldest (OP-309)', async () => {
    const begin = async () => {
      const browser = testConsole(gateway)
      expect((await browser.login(ADMIN_TOKEN)).status).toBe(201)
      return browser
    }
    const [first, second] = [await begin(), await begin()]
    for (let count = 2; count <= 50; count++) await begin()
    const adminStatusIn = async (browser: typeof first) =>
      (await browser.send('GET', '/console/api/admin/v1/workspaces')).status
    await eventually('the first is over', async () => (await adminStatusIn(first)) === 401)
    expect(await adminStatusIn(second)).toBe(200)
  })

  test('of bootstrap ends with another ADMIN_TOKEN', async () => {
    const before = testConsole(gateway)
    await before.login(ADMIN_TOKEN)
    const after = testConsole(await testGateway({ database: gateway.database, adminToken: 'another-operator-token' }))
    for (const [name, value] of before.cookies) after.cookies.set(name, value)
    expect((await after.send('GET', '/console/api/admin/v1/workspaces')).status).toBe(401)
    expect((await before.send('GET', '/console/api/admin/v1/workspaces')).status).toBe(200)
  })

  test('wrong cookies are limited as wrong tokens', async () => {
    gateway.passTime(60_000)
    const browser = testConsole(gateway)
    browser.cookies.set('__Host-operator', 'cs_live_x')
    const statuses: number[] = []
    for (let count = 0; count < 21; count++)
      statuses.push((await browser.send('GET', '/console/api/admin/v1/workspaces')).status)
    expect(statuses.slice(-2)).toEqual([401, 429])
  })
})
