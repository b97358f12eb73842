import { testVerifier } from '@backoffice/testing/caller.ts'
import { eventually } from '@backoffice/testing/eventually.ts'
import { expect, test } from 'vitest'
import type { IssuedToken } from '../admin/operators/issue-token.ts'
import { testBrowser } from '../testing/test-browser.ts'
import { testConsole } from '../testing/test-console.ts'
import { ADMIN_TOKEN, testGateway } from '../testing/test-gateway.ts'
import type { Echo } from '../testing/test-upstream.ts'

interface Link {
  readonly url: string
  readonly expires_at: string
}

const gateway = await testGateway()
const verify = testVerifier('catalog')
const callerIn = async ({ body }: { body: Echo }) =>
  (await verify(body.headers['x-internal-token'], new Date(gateway.now()))).caller
const linkTo = (workspaceId: string, options: object = {}, token?: string) =>
  gateway.admin<Link>('POST', `/workspaces/${workspaceId}/links`, { page: 'console', ...options }, token)

/** Opens a link, and returns the browser with the session that it began. */
async function enter(url: string) {
  const entering = testBrowser(gateway)
  const entered = await entering.enter(url)
  expect([entered.status, entered.headers.location]).toEqual([303, '/console'])
  const browser = testConsole(gateway)
  for (const [name, value] of entering.cookies) browser.cookies.set(name, value)
  return { browser, cookie: String(entered.headers['set-cookie']) }
}

/** Runs work while nothing can be written to the audit log, then lets what waits go on, and returns what came of it. */
async function withoutAudit<Result>(
  work: (waiting: (statements: number) => Promise<unknown>) => Promise<() => Result>,
) {
  const { admin } = gateway.database
  const waiting = (statements: number) =>
    eventually('statements wait', async () => {
      const found = await admin`
        select from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`
      return found.length >= statements
    })
  const answers = await admin.begin(async (tx) => {
    await tx`lock table audit`
    return work(waiting)
  })
  return answers()
}

test('a link opens the console of its workspace once, with its scopes', async () => {
  const { workspaceId } = await gateway.aKey([], true)
  const { body: link } = await linkTo(workspaceId, { scopes: ['product::read', 'sale'] })
  const shown = await testBrowser(gateway).send('GET', link.url)
  expect(shown.text).toContain('Open the console')
  const { browser, cookie } = await enter(link.url)
  expect(cookie).toMatch(/^__Host-console=cs_test_\w+; Max-Age=28800; Path=\/; HttpOnly; SameSite=Strict; Secure$/)
  expect((await browser.send('GET', '/console/session')).body).toEqual({
    workspace: {
      kind: 'link',
      workspace: { id: workspaceId, name: 'Test', livemode: false },
      scopes: ['product::read', 'sale'],
      key: null,
      operator: null,
      reason: null,
      expires_at: expect.any(String),
    },
    operator: null,
  })
  const answer = await browser.send<Echo>('GET', '/console/api/v1/products')
  const { keyId, ...caller } = await callerIn(answer)
  expect(caller).toMatchObject({ workspaceId, livemode: false, scopes: ['product::read', 'sale'], console: true })
  expect((await browser.send('GET', '/console/api/v1/me')).body).toMatchObject({ key: { id: keyId, name: 'Console' } })
  expect((await testBrowser(gateway).enter(link.url)).status).toBe(410)

  expect((await gateway.admin('GET', `/audit?session=${keyId}`)).body).toMatchObject({
    items: [
      { who: 'merchant', action: 'session.created', target: `workspaces/${workspaceId}` },
      { who: 'operator', actor: 'bootstrap', action: 'link.created', target: `workspaces/${workspaceId}` },
    ],
  })
  expect((await gateway.admin('DELETE', `/console-sessions/${keyId}`)).status).toBe(204)
  expect((await gateway.admin('GET', `/audit?workspace=${workspaceId}&action=session.ended`)).body).toMatchObject({
    items: [{ who: 'operator', target: `console-sessions/${keyId}`, session_id: keyId }],
  })
  await eventually('it is over', async () => (await browser.send('GET', '/console/api/v1/products')).status === 401)
  expect((await gateway.admin('DELETE', `/console-sessions/${keyId}`)).status).toBe(404)
})

test('a link that nobody has opened yet is withdrawn by the id of its session, which the audit log has', async () => {
  const { workspaceId } = await gateway.aKey()
  const { body: link } = await linkTo(workspaceId)
  const { body: log } = await gateway.admin<{ items: [{ session_id: string }] }>(
    'GET',
    `/audit?workspace=${workspaceId}&action=link.created`,
  )
  const path = `/console-sessions/${log.items[0].session_id}`
  expect((await gateway.admin('DELETE', path)).status).toBe(204)
  expect((await testBrowser(gateway).enter(link.url)).status).toBe(410)
  expect((await gateway.admin('DELETE', path)).status).toBe(404)
})

test.each([
  [{}, 'session.ended', 'console-sessions'],
  [{ support: { reason: 'ticket 7' } }, 'support_session.ended', 'support-sessions'],
])('with %j a session ends by the id of its link, also while it begins', async (options, action, of) => {
  const { workspaceId } = await gateway.aKey()
  for (const isUnderWay of [true, false]) {
    const { body: link } = await linkTo(workspaceId, options)
    const { body: log } = await gateway.admin<{ items: [{ session_id: string }] }>(
      'GET',
      `/audit?workspace=${workspaceId}&action=link.created`,
    )
    const id = log.items[0].session_id
    const end = () => gateway.admin('DELETE', `/console-sessions/${id}`)
    const [{ browser }, ended] = isUnderWay
      ? await withoutAudit(async (waiting) => {
          const entering = enter(link.url)
          await waiting(1)
          const ending = end()
          await waiting(2)
          return () => Promise.all([entering, ending])
        })
      : [await enter(link.url), await end()]
    expect(ended.status).toBe(204)
    await eventually('it is over', async () => (await browser.send('GET', '/console/api/v1/products')).status === 401)
    expect((await gateway.admin('GET', `/audit?session=${id}&action=${action}`)).body).toMatchObject({
      items: [{ who: 'operator', actor: 'bootstrap', target: `${of}/${id}` }],
    })
    expect((await end()).status).toBe(404)
  }
})

test('without scopes it may do everything, and it waits as long as it says to be opened', async () => {
  const { workspaceId } = await gateway.aKey()
  const [usual, short] = [await linkTo(workspaceId), await linkTo(workspaceId, { expires_in: 60 })]
  const secondsOf = ({ expires_at }: Link) => Math.round((Date.parse(expires_at) - Date.now()) / 10_000) * 10
  expect([secondsOf(usual.body), secondsOf(short.body)]).toEqual([600, 60])
  const { browser } = await enter(short.body.url)
  expect((await browser.send('GET', '/console/session')).body).toMatchObject({ workspace: { scopes: ['*'] } })
  expect((await gateway.admin('GET', `/audit?workspace=${workspaceId}&action=link.created`)).body).toMatchObject({
    items: [{ actor: 'bootstrap', target: `workspaces/${workspaceId}` }, {}],
  })
})

test('a link of support opens a session of its operator, which reads, and ends with the operator', async () => {
  const { workspaceId } = await gateway.aKey()
  const { body: ada } = await gateway.admin<IssuedToken>('POST', '/operators', { name: 'Ada' })
  const made = await eventually('the token works', async () => {
    const link = await linkTo(workspaceId, { support: { reason: 'ticket 7' } }, ada.token)
    return link.status === 201 && link
  })
  expect((await testBrowser(gateway).send('GET', made.body.url)).text).toContain('Support a workspace')
  const { browser, cookie } = await enter(made.body.url)
  expect(cookie).toMatch(/^__Host-console=ss_live_\w+; Max-Age=1800;/)
  expect((await browser.send('GET', '/console/session')).body).toMatchObject({
    workspace: { kind: 'support', operator: 'Ada', reason: 'ticket 7', key: null, workspace: { id: workspaceId } },
  })
  const answer = await browser.send<Echo>('GET', '/console/api/v1/products')
  const { keyId, ...caller } = await callerIn(answer)
  expect(caller).toMatchObject({ who: 'support', console: true })
  expect((await browser.send('POST', '/console/api/v1/products', { body: {} })).status).toBe(403)
  const headers = { 'support-reason': 'the merchant asked' }
  expect((await browser.send('POST', '/console/api/v1/products', { body: {}, headers })).status).toBe(200)
  expect((await gateway.admin('GET', `/audit?session=${keyId}`)).body).toMatchObject({
    items: [
      {
        who: 'support',
        actor: 'Ada',
        action: 'support.written',
        target: 'POST /v1/products',
        reason: 'the merchant asked',
      },
      { who: 'support', actor: 'Ada', action: 'support.read', target: 'GET /v1/products' },
      { who: 'operator', actor: 'Ada', action: 'support_session.created', reason: 'ticket 7' },
      { who: 'operator', actor: 'Ada', action: 'link.created', reason: 'ticket 7' },
    ],
  })
  const { body: unused } = await linkTo(workspaceId, { support: { reason: 'ticket 7' } }, ada.token)
  await gateway.admin('DELETE', `/operators/${ada.id}`)
  await eventually('it is over', async () => (await browser.send('GET', '/console/api/v1/products')).status === 401)
  expect((await testBrowser(gateway).enter(unused.url)).status).toBe(410)
})

test('a new token of an operator ends the support that the old one has begun, and its links', async () => {
  const { workspaceId } = await gateway.aKey()
  const { body: grace } = await gateway.admin<IssuedToken>('POST', '/operators', { name: 'Grace' })
  const link = async () => {
    const made = await linkTo(workspaceId, { support: { reason: 'ticket 8' }, expires_in: 86_400 }, grace.token)
    return made.body.url
  }
  const { browser } = await enter(await link())
  const [unused, ofOthers] = [await link(), (await linkTo(workspaceId)).body.url]
  expect((await browser.send('GET', '/console/api/v1/products')).status).toBe(200)
  await gateway.admin('POST', `/operators/${grace.id}/rotate`, { overlap_seconds: 600 })
  await eventually('it is over', async () => (await browser.send('GET', '/console/api/v1/products')).status === 401)
  expect((await testBrowser(gateway).enter(unused)).status).toBe(410)
  expect((await testBrowser(gateway).enter(ofOthers)).status).toBe(303)
})

test('another ADMIN_TOKEN ends the links of support of bootstrap, and no others', async () => {
  const { workspaceId } = await gateway.aKey()
  const after = await testGateway({ database: gateway.database, adminToken: 'another-operator-token' })
  const { body: ofSupport } = await linkTo(workspaceId, { support: { reason: 'ticket 9' } })
  const { body: ofMerchant } = await linkTo(workspaceId)
  expect((await testBrowser(after).send('GET', ofSupport.url)).status).toBe(410)
  expect((await testBrowser(after).enter(ofSupport.url)).status).toBe(410)
  expect((await testBrowser(after).enter(ofMerchant.url)).status).toBe(303)
  const { browser } = await enter(ofSupport.url)
  expect((await browser.send('GET', '/console/api/v1/products')).status).toBe(200)
  const elsewhere = testConsole(after)
  for (const [name, value] of browser.cookies) elsewhere.cookies.set(name, value)
  expect((await elsewhere.send('GET', '/console/api/v1/products')).status).toBe(401)
})

test('a browser ends a session of support, too', async () => {
  const { workspaceId } = await gateway.aKey()
  const { browser } = await enter((await linkTo(workspaceId, { support: { reason: 'ticket 7' } })).body.url)
  expect((await browser.send('DELETE', '/console/session')).status).toBe(204)
  expect((await gateway.admin('GET', `/workspaces/${workspaceId}/support-sessions`)).body).toMatchObject({
    items: [{ ended_at: expect.any(String) }],
  })
  expect(
    (await gateway.admin('GET', `/audit?workspace=${workspaceId}&action=support_session.ended`)).body,
  ).toMatchObject({
    items: [{ who: 'support', actor: 'bootstrap', target: expect.stringMatching(/^support-sessions\//) }],
  })
})

test.each([
  [{ page: 'embed' }, /^page: /],
  [{ scopes: [] }, /^scopes: /],
  [{ scopes: ['everything'] }, /^scopes\[0\]: /],
  [{ scopes: ['sale'], support: { reason: 'a' } }, /^scopes: must be absent/],
  [{ support: {} }, /^support.reason: /],
  [{ expires_in: 59 }, /^expires_in: /],
  [{ expires_in: 86_401 }, /^expires_in: /],
])('%j makes no link', async (options, message) => {
  const { workspaceId } = await gateway.aKey()
  const refused = await gateway.admin('POST', `/workspaces/${workspaceId}/links`, { page: 'console', ...options })
  expect([400, 422]).toContain(refused.status)
  expect(refused.body.error.message).toMatch(message)
})

test('a workspace that does not exist, or is deleted, has no link', async () => {
  const { workspaceId } = await gateway.aKey()
  await gateway.admin('DELETE', `/workspaces/${workspaceId}`)
  expect((await linkTo(workspaceId)).status).toBe(404)
  expect((await linkTo('0198c2f1-a3b4-7c5d-8e9f-0123456789ab')).status).toBe(404)
})

test('the text of a session tells whose it is, and how to end it', async () => {
  const { workspaceId, key, id } = await gateway.aKey(['product'])
  const identify = async (text = '') => (await gateway.admin('POST', '/keys/identify', { key: text })).body
  const ofLink = (await enter((await linkTo(workspaceId)).body.url)).browser
  const ofKey = testConsole(gateway)
  await ofKey.login(key)
  const ofOperator = testConsole(gateway)
  await ofOperator.login(ADMIN_TOKEN)
  const ends = expect.stringMatching(/^DELETE \/admin\/v1\/console-sessions\/[0-9a-f-]{36}$/)
  const shared = { kind: 'console', state: 'IN_FORCE', end_with: ends }
  expect(await identify(ofLink.cookies.get('__Host-console'))).toMatchObject({
    ...shared,
    name: 'link',
    scopes: ['*'],
    workspace: { id: workspaceId },
  })
  expect(await identify(ofOperator.cookies.get('__Host-operator'))).toMatchObject({
    ...shared,
    name: 'bootstrap',
    scopes: [],
    workspace: null,
  })
  const text = ofKey.cookies.get('__Host-console')
  expect(await identify(text)).toMatchObject({ ...shared, name: 'Test', scopes: ['product'] })
  await gateway.admin('DELETE', `/keys/${id}`)
  expect(await identify(text)).toMatchObject({ state: 'ENDED', end_with: null })
})

test('the links of a workspace have fifty sessions at most: one more ends the oldest (OP-309)', async () => {
  const { workspaceId } = await gateway.aKey()
  const begin = async () => (await enter((await linkTo(workspaceId)).body.url)).browser
  const [first, second] = [await begin(), await begin()]
  for (let count = 2; count <= 50; count++) await begin()
  const statusIn = async (browser: typeof first) => (await browser.send('GET', '/console/api/v1/products')).status
  await eventually('the first is over', async () => (await statusIn(first)) === 401)
  expect(await statusIn(second)).toBe(200)
})
