import type { Installation } from '@backoffice/contracts/app.ts'
import { describe, expect, test } from 'vitest'
import { testApps } from '../testing/test-apps.ts'
import { fieldsOf, testBrowser } from '../testing/test-browser.ts'
import { testGateway } from '../testing/test-gateway.ts'

const gateway = await testGateway()
const apps = testApps(gateway.services.apps)
const { workspaceId } = await gateway.aKey()

const ACTIVE: Partial<Installation> = { state: 'ACTIVE', scopes: ['sale::read'], requested_scopes: [] }

interface Link {
  readonly url: string
  readonly expires_at: string
}

async function linkTo({ id }: Installation, page: 'consent' | 'embed'): Promise<string> {
  const { status, body } = await gateway.admin<Link>('POST', `/installations/${id}/links`, { page })
  expect(status).toBe(201)
  return body.url
}

/** A browser with a session on a page. */
async function visitor(installation: Installation, page: 'consent' | 'embed') {
  const browser = testBrowser(gateway)
  const entered = await browser.enter(await linkTo(installation, page))
  return { ...browser, page: entered.headers.location as string }
}

/** A browser on the consent page, and the form there. */
async function onConsentPage(installation: Installation) {
  const browser = await visitor(installation, 'consent')
  const page = await browser.send('GET', browser.page)
  return { ...browser, form: formOf(page), text: page.text }
}

const formOf = (page: Parameters<typeof fieldsOf>[0]) => ({
  csrf: fieldsOf(page, 'csrf'),
  scope: fieldsOf(page, 'scope'),
  event: fieldsOf(page, 'event'),
  webhooks: fieldsOf(page, 'webhooks').map((value) => value.replaceAll('&quot;', '"')),
})

const actsOn = ({ id }: Installation) =>
  apps.asked.filter(({ method, path }) => method === 'POST' && path.startsWith(`/internal/installations/${id}/`))

/** The links of an installation expire now. */
const expireLinks = ({ id }: Installation) =>
  gateway.database.admin`update page_link set expires_at = clock_timestamp() where installation_id = ${id}`

describe('a one-time link', () => {
  test('opens its page once, without the link in the address', async () => {
    const installation = apps.add(workspaceId)
    const url = await linkTo(installation, 'consent')
    expect(url).toMatch(/^https:\/\/shop\.example\/apps\/enter\?link=[\w-]{86}$/)

    const browser = testBrowser(gateway)
    const entered = await browser.enter(url)
    expect(entered).toMatchObject({ status: 303, headers: { location: `/apps/consent/${installation.id}` } })
    expect(entered.headers['set-cookie']).toMatch(
      new RegExp(
        `^__Secure-consent-${installation.id}=[\\w-]{86}; Max-Age=1800; Path=/apps; HttpOnly; SameSite=Strict; Secure$`,
      ),
    )
    expect(entered.headers).toMatchObject({ 'referrer-policy': 'no-referrer', 'cache-control': 'no-store' })
    expect((await browser.send('GET', entered.headers.location as string)).status).toBe(200)
    expect((await browser.enter(url)).status).toBe(410)
  })

  test('opened twice at once lets exactly one browser in', async () => {
    const url = await linkTo(apps.add(workspaceId), 'consent')
    const answers = await Promise.all(Array.from({ length: 8 }, () => testBrowser(gateway).enter(url)))
    expect(answers.map(({ status }) => status).toSorted()).toEqual([303, ...Array(7).fill(410)])
    expect(answers.filter(({ headers }) => headers['set-cookie'] !== undefined)).toHaveLength(1)
  })

  test('is not used up by a program that fetches it', async () => {
    const url = await linkTo(apps.add(workspaceId), 'consent')
    for (const method of ['GET', 'HEAD', 'GET'] as const) {
      const fetched = await testBrowser(gateway).send(method, url)
      expect(fetched.status).toBe(200)
      expect(fetched.headers['set-cookie']).toBeUndefined()
      expect(fetched.text).not.toContain('<script')
    }
    expect((await testBrowser(gateway).enter(url)).status).toBe(303)
  })

  test('lasts ten minutes', async () => {
    const installation = apps.add(workspaceId)
    const { body } = await gateway.admin<Link>('POST', `/installations/${installation.id}/links`, { page: 'consent' })
    expect(Date.parse(body.expires_at) - Date.now()).toBeGreaterThan(590_000)
    expect(Date.parse(body.expires_at) - Date.now()).toBeLessThanOrEqual(600_000)
    await expireLinks(installation)
    const browser = testBrowser(gateway)
    for (const answer of [await browser.send('GET', body.url), await browser.enter(body.url)]) {
      expect(answer.status).toBe(410)
      expect(answer.text).toContain('no longer works')
    }
  })

  test.each([
    ['without a link', ''],
    ['of other text', 'nonsense'],
    ['of the right length', 'A'.repeat(86)],
  ])('%s is refused without a look-up', async (_what, link) => {
    const browser = testBrowser(gateway)
    const url = `https://shop.example/apps/enter?link=${link}`
    for (const answer of [await browser.send('GET', url), await browser.enter(url)]) {
      expect(answer.status).toBe(403)
      expect(answer.headers['content-type']).toBe('text/html; charset=utf-8')
    }
    expect(browser.cookies.size).toBe(0)
  })

  test('that was changed is refused', async () => {
    const link = new URL(await linkTo(apps.add(workspaceId), 'consent')).searchParams.get('link') ?? ''
    for (const at of [0, 30, 60, 85]) {
      const changed = `${link.slice(0, at)}${link[at] === 'A' ? 'E' : 'A'}${link.slice(at + 1)}`
      expect((await testBrowser(gateway).enter(`https://shop.example/?link=${changed}`)).status, `at ${at}`).toBe(403)
    }
  })

  test('is no session, and a session no link', async () => {
    const installation = apps.add(workspaceId)
    const browser = await visitor(installation, 'consent')
    const [[name = '', session = ''] = []] = [...browser.cookies]
    expect((await browser.enter(`https://shop.example/?link=${session}`)).status).toBe(403)
    const other = testBrowser(gateway)
    other.cookies.set(name, new URL(await linkTo(installation, 'consent')).searchParams.get('link') ?? '')
    expect((await other.send('GET', browser.page)).status).toBe(401)
  })

  test('is stored and logged nowhere', async () => {
    const url = await linkTo(apps.add(workspaceId), 'consent')
    const browser = testBrowser(gateway)
    await browser.send('GET', url)
    await browser.enter(url)
    const rows = await gateway.database.admin`select page_link::text, page_session::text from page_link, page_session`
    const known = JSON.stringify([gateway.log, rows])
    for (const secret of [new URL(url).searchParams.get('link') ?? '', ...browser.cookies.values()]) {
      expect(known).not.toContain(secret)
    }
  })

  test('is in the audit log', async () => {
    const { id } = apps.add(workspaceId)
    await gateway.admin('POST', `/installations/${id}/links`, { page: 'consent' })
    const { body } = await gateway.admin<{ items: unknown[] }>('GET', '/audit?limit=1')
    expect(body.items[0]).toMatchObject({
      action: 'link.created',
      target: `installations/${id}`,
    })
  })

  test.each<['consent' | 'embed', Partial<Installation>]>([
    ['consent', ACTIVE],
    ['embed', {}],
    ['embed', { ...ACTIVE, state: 'UNINSTALLED' }],
  ])('to the %s page is refused where there is nothing to show', async (page, changes) => {
    const { id } = apps.add(workspaceId, changes)
    const answer = await gateway.admin('POST', `/installations/${id}/links`, { page })
    expect(answer).toMatchObject({ status: 409, body: { error: { code: 'conflict' } } })
  })

  test('to an unknown installation or page is refused', async () => {
    const unknown = '018f0000-0000-7000-8000-000000000000'
    expect((await gateway.admin('POST', `/installations/${unknown}/links`, { page: 'consent' })).status).toBe(404)
    const { id } = apps.add(workspaceId)
    expect((await gateway.admin('POST', `/installations/${id}/links`, { page: 'other' })).status).toBe(400)
  })

  test('comes with a new installation that waits for consent', async () => {
    const install = async (changes?: Partial<Installation>) => {
      const installation = apps.add(workspaceId, changes)
      const body = { provider: installation.provider }
      return gateway.admin<Installation & { consent_url: string | null }>(
        'POST',
        `/workspaces/${workspaceId}/installations`,
        body,
      )
    }
    const { body } = await install()
    const browser = testBrowser(gateway)
    expect((await browser.enter(body.consent_url ?? '')).headers.location).toBe(`/apps/consent/${body.id}`)
    expect((await install(ACTIVE)).body.consent_url).toBeNull()
  })

  test('of an installation in a deleted workspace is not found', async () => {
    const { workspaceId: deleted } = await gateway.aKey()
    const { id } = apps.add(deleted, { ...ACTIVE, requested_scopes: ['sale'] })
    await gateway.admin('DELETE', `/workspaces/${deleted}`)
    for (const [path, body] of [
      ['links', { page: 'consent' }],
      ['session', {}],
    ] as const) {
      expect([path, (await gateway.admin('POST', `/installations/${id}/${path}`, body)).status]).toEqual([path, 404])
    }
  })

  test('of a suspended workspace gets no session token, and leaves no act, until the workspace is resumed', async () => {
    const { workspaceId: suspended } = await gateway.aKey()
    const { id } = apps.add(suspended, ACTIVE)
    const open = () => gateway.admin('POST', `/installations/${id}/session`, {})
    await gateway.admin('POST', `/workspaces/${suspended}/suspend`)
    const refused = await open()
    expect(refused).toMatchObject({ status: 409, body: { error: { code: 'conflict' } } })
    expect(refused.body.error.message).toBe('the workspace is suspended; resume it first')
    const acts = () => gateway.database.admin`select from audit where target = ${`installations/${id}`}`
    expect(await acts()).toHaveLength(0)
    await gateway.admin('POST', `/workspaces/${suspended}/resume`)
    expect((await open()).status).toBe(201)
    expect(await acts()).toHaveLength(1)
  })

  test('comes with a session for the embed', async () => {
    const { id, provider } = apps.add(workspaceId, ACTIVE)
    const { status, body } = await gateway.admin<{ token: string; embed_url: string }>(
      'POST',
      `/installations/${id}/session`,
      {},
    )
    expect({ status, token: body.token }).toEqual({ status: 201, token: 'token-for-the-app' })
    const entered = await testBrowser(gateway).enter(body.embed_url)
    expect(entered.headers.location).toBe(`/apps/${provider}/embed?installation=${id}`)
  })
})

describe('a session', () => {
  test.each(['consent', 'embed'] as const)('opens the %s page in its own browser only', async (page) => {
    const browser = await visitor(apps.add(workspaceId, page === 'embed' ? ACTIVE : {}), page)
    expect((await browser.send('GET', browser.page)).status).toBe(200)
    const other = await testBrowser(gateway).send('GET', browser.page)
    expect(other.status).toBe(401)
    expect(other.text).not.toContain('Acme')
  })

  test('opens no other installation and no other page', async () => {
    const both = { ...ACTIVE, requested_scopes: ['product'] }
    const [mine, theirs] = [apps.add(workspaceId, both), apps.add((await gateway.aKey()).workspaceId, both)]
    const browser = await visitor(mine, 'consent')
    const [[name = '', value = ''] = []] = [...browser.cookies]
    for (const [page, { id }] of [
      ['consent', theirs],
      ['embed', mine],
    ] as const) {
      browser.cookies.set(name.replace('consent', page).replace(mine.id, id), value)
      const path = page === 'consent' ? `/apps/consent/${id}` : `/apps/acme-pay/embed?installation=${id}`
      expect((await browser.send('GET', path)).status).toBe(401)
    }
  })

  test('asks apps in the name of the merchant and of its workspace only', async () => {
    const installation = apps.add(workspaceId)
    const browser = await onConsentPage(installation)
    await browser.send('POST', browser.page, { form: { ...browser.form, decision: 'approve' } })
    expect(actsOn(installation)).toMatchObject([{ who: 'merchant', actor: 'merchant', workspace: workspaceId }])
  })

  test('ends by its time', async () => {
    const installation = apps.add(workspaceId)
    const browser = await visitor(installation, 'consent')
    await gateway.database.admin`
      update page_session set expires_at = clock_timestamp() where installation_id = ${installation.id}`
    expect((await browser.send('GET', browser.page)).status).toBe(401)
  })

  test('on an embed ends when the app is uninstalled, also when it is back', async () => {
    const installation = apps.add(workspaceId, ACTIVE)
    const browser = await visitor(installation, 'embed')
    Object.assign(installation, { state: 'UNINSTALLED' })
    const gone = await browser.send('GET', browser.page)
    expect(gone.status).toBe(410)
    expect(gone.text).toContain('Acme Pay is not installed')
    expect(browser.cookies.size).toBe(0)
    expect(await gateway.database.admin`select from page_session where installation_id = ${installation.id}`).toEqual(
      [],
    )
  })

  test('of a gateway over http has a cookie that http carries', async () => {
    const local = await testGateway({ publicUrl: new URL('http://127.0.0.1:8080') })
    const { add } = testApps(local.services.apps)
    const { id } = add((await local.aKey()).workspaceId)
    const { body } = await local.admin<Link>('POST', `/installations/${id}/links`, { page: 'consent' })
    const entered = await testBrowser(local).enter(body.url)
    expect(entered.headers['set-cookie']).toMatch(
      /^consent-[\w-]+=[\w-]+; Max-Age=1800; Path=\/apps; HttpOnly; SameSite=Strict$/,
    )
  })
})

describe('a request that another site makes the browser send', () => {
  const FOREIGN: [string, Record<string, string>][] = [
    ['another site', { 'sec-fetch-site': 'cross-site' }],
    ['a sibling host', { 'sec-fetch-site': 'same-site' }],
    ['the address bar', { 'sec-fetch-site': 'none' }],
    ['another origin', { 'sec-fetch-site': 'same-origin', origin: 'https://evil.example' }],
    ['an old browser and another origin', { 'sec-fetch-site': '', origin: 'https://evil.example' }],
  ]

  test.each(FOREIGN)('%s: decides nothing', async (_where, headers) => {
    const installation = apps.add(workspaceId)
    const browser = await onConsentPage(installation)
    const form = { ...browser.form, decision: 'approve' }
    expect((await browser.send('POST', browser.page, { form, headers })).status).toBe(403)
    expect(actsOn(installation)).toEqual([])
  })

  test.each(FOREIGN)('%s: uses no link up', async (_where, headers) => {
    const url = await linkTo(apps.add(workspaceId), 'consent')
    const browser = testBrowser(gateway)
    expect((await browser.enter(url, headers)).status).toBe(403)
    expect((await browser.enter(url)).status).toBe(303)
  })

  test.each(FOREIGN)('%s: gets no token', async (_where, headers) => {
    const installation = apps.add(workspaceId, ACTIVE)
    const browser = await visitor(installation, 'embed')
    const csrf = /data-csrf="([^"]+)"/.exec((await browser.send('GET', browser.page)).text)?.[1] ?? ''
    const path = `/apps/acme-pay/session?installation=${installation.id}`
    const refused = await browser.send('POST', path, { headers: { 'x-csrf-token': csrf, ...headers } })
    expect(refused.status).toBe(403)
    expect(actsOn(installation)).toEqual([])
  })

  test('without the token of its session: decides nothing and gets no token', async () => {
    const [mine, other] = [apps.add(workspaceId), apps.add(workspaceId)]
    const browser = await onConsentPage(mine)
    const { form: theirs } = await onConsentPage(other)
    for (const csrf of [[], '', 'nonsense', theirs.csrf]) {
      const form = { ...browser.form, csrf, decision: 'approve' }
      expect((await browser.send('POST', browser.page, { form })).status).toBe(403)
    }
    expect((await browser.send('POST', browser.page)).status).toBe(403)
    expect(actsOn(mine)).toEqual([])

    const installation = apps.add(workspaceId, ACTIVE)
    const merchant = await visitor(installation, 'embed')
    const path = `/apps/acme-pay/session?installation=${installation.id}`
    for (const headers of [{}, { 'x-csrf-token': theirs.csrf[0] ?? '' }]) {
      expect((await merchant.send('POST', path, { headers })).status).toBe(403)
    }
    expect(actsOn(installation)).toEqual([])
  })

  test('from our own page in a browser without Sec-Fetch-Site is taken', async () => {
    const installation = apps.add(workspaceId)
    const browser = await onConsentPage(installation)
    const form = { ...browser.form, decision: 'approve' }
    const headers = { 'sec-fetch-site': '', origin: 'https://shop.example' }
    expect((await browser.send('POST', browser.page, { form, headers })).status).toBe(303)
  })
})

describe('the consent page', () => {
  test('lists what the app asks for, and says where it runs and in which workspace', async () => {
    const { text } = await onConsentPage(
      apps.add(workspaceId, {
        requested_scopes: ['sale::read', 'customer'],
        webhooks: { path: '/hook/{workspace}', events: ['order.paid'], standard_signature: true },
        checkout: { path: '/pay' },
      }),
    )
    const hook = `<code>https://pay.acme.example/hook/${workspaceId}</code>`
    const parts = ['pay.acme.example', 'Test</bdi>', '>Live<', 'order.paid', 'It takes payments', 'Wide access']
    for (const part of [...parts, hook, 'a signature for Standard Webhooks']) {
      expect(text).toContain(part)
    }
    expect(text.indexOf('Do everything with your customers')).toBeLessThan(text.indexOf('See your orders'))
    expect(text).not.toContain('<script')
  })

  test('says that a workspace is a sandbox', async () => {
    const { workspaceId: sandbox } = await gateway.aKey(['*'], true)
    const { text } = await onConsentPage(apps.add(sandbox, { livemode: false }))
    expect(text).toContain('>Sandbox<')
  })

  test('marks the scopes that are new to an installed app', async () => {
    const upgrade = { ...ACTIVE, requested_scopes: ['sale::read', 'customer::read'] }
    const { text } = await onConsentPage(apps.add(workspaceId, upgrade))
    expect(text).toContain('asks for more access')
    expect([...text.matchAll(/>New</g)]).toHaveLength(1)
    expect(text).toMatch(/personal data <strong class="tag new">New/)
  })

  test('escapes the name of the app and of the workspace', async () => {
    const hostile = `</title><script>alert(1)</script>"'><img src=x onerror=alert(1)>`
    const { body } = await gateway.admin<{ id: string }>('POST', '/workspaces', { name: hostile })
    for (const [page, changes] of [
      ['consent', {}],
      ['embed', ACTIVE],
    ] as const) {
      const browser = await visitor(apps.add(body.id, { name: hostile, ...changes }), page)
      const { text } = await browser.send('GET', browser.page)
      expect(text).not.toContain('<script>')
      expect(text).not.toContain('<img')
      expect(text).toContain('&lt;/title&gt;&lt;script&gt;alert(1)&lt;/script&gt;&quot;&#39;&gt;&lt;img')
    }
  })

  test('sends what was shown with the approval, then says what happens', async () => {
    const events = ['order.paid', 'invoice.paid']
    const webhooks = { path: '/', events }
    const installation = apps.add(workspaceId, { requested_scopes: ['sale', 'app::read'], webhooks })
    const browser = await onConsentPage(installation)
    const approved = await browser.send('POST', browser.page, { form: { ...browser.form, decision: 'approve' } })
    expect(approved.status).toBe(303)
    expect(actsOn(installation)).toMatchObject([{ body: { scopes: ['sale', 'app::read'], webhooks } }])

    const pending = await browser.send('GET', approved.headers.location as string)
    expect(pending.text).toContain('Acme Pay is being installed')
    expect(pending.text).toContain('http-equiv="refresh"')
    Object.assign(installation, ACTIVE)
    const active = await browser.send('GET', approved.headers.location as string)
    expect(active.text).toContain('Acme Pay is installed')
    expect(active.text).not.toContain('http-equiv="refresh"')
  })

  test.each([
    { path: '/elsewhere', events: ['order.paid'] },
    { path: '/hook', events: ['order.paid'], standard_signature: true },
    null,
  ])('approves nothing when webhooks are %j since', async (webhooks) => {
    const installation = apps.add(workspaceId, { webhooks: { path: '/hook', events: ['order.paid'] } })
    const browser = await onConsentPage(installation)
    Object.assign(installation, { webhooks })
    const refused = await browser.send('POST', browser.page, { form: { ...browser.form, decision: 'approve' } })
    expect([refused.status, refused.text.includes('The request has changed')]).toEqual([409, true])
    const form = { ...formOf(refused), decision: 'approve' }
    expect((await browser.send('POST', browser.page, { form })).status).toBe(303)
  })

  test('shows the new list when the app asks for more since, and approves nothing', async () => {
    const installation = apps.add(workspaceId)
    const browser = await onConsentPage(installation)
    Object.assign(installation, { requested_scopes: ['sale::read', '*'] })
    const refused = await browser.send('POST', browser.page, { form: { ...browser.form, decision: 'approve' } })
    expect(refused.status).toBe(409)
    expect(refused.text).toContain('The request has changed')
    expect(refused.text).toContain('Do everything in this workspace')
    expect(installation.requested_scopes).not.toEqual([])

    const form = { ...formOf(refused), decision: 'approve' }
    expect((await browser.send('POST', browser.page, { form })).status).toBe(303)
  })

  test('says that the app has not acknowledged the consent before, and takes the approval afterwards', async () => {
    const installation = apps.add(workspaceId)
    const browser = await onConsentPage(installation)
    apps.busy.add(installation.id)
    const refused = await browser.send('POST', browser.page, { form: { ...browser.form, decision: 'approve' } })
    expect(refused.status).toBe(409)
    expect(refused.text).toContain('It has not taken over the access that it was given before. Nothing was approved.')
    expect(refused.text).not.toContain('has changed')

    apps.busy.delete(installation.id)
    const form = { csrf: fieldsOf(refused, 'csrf'), scope: fieldsOf(refused, 'scope'), decision: 'approve' }
    expect((await browser.send('POST', browser.page, { form })).status).toBe(303)
  })

  test('takes a refusal', async () => {
    const installation = apps.add(workspaceId)
    const browser = await onConsentPage(installation)
    const declined = await browser.send('POST', browser.page, { form: { ...browser.form, decision: 'decline' } })
    expect(actsOn(installation).map(({ path }) => path.split('/').at(-1))).toEqual(['decline'])
    expect((await browser.send('GET', declined.headers.location as string)).text).toContain('You declined')
  })

  test.each([
    ['FAILED', {}, 'could not be installed'],
    ['UNINSTALLED', {}, 'is not installed'],
    ['PENDING', { last_error: '/install/provision: answered 500' }, 'is not ready yet'],
    ['PENDING', { last_error: 'webhook-delivery does not answer' }, 'We try again by ourselves'],
  ] as const)('says what became of an installation: %s', async (state, changes, text) => {
    const installation = apps.add(workspaceId)
    const browser = await visitor(installation, 'consent')
    Object.assign(installation, { state, requested_scopes: [], ...changes })
    const page = await browser.send('GET', browser.page)
    expect(page.text).toContain(text)
    expect(page.text).not.toContain('answer')
    expect(page.text).not.toContain('24 hours')
  })
})

describe('the embed page', () => {
  test("frames the app's origin only, and runs no other script than its own", async () => {
    const browser = await visitor(apps.add(workspaceId, ACTIVE), 'embed')
    const { headers, text } = await browser.send('GET', browser.page)
    expect(directives(headers)).toMatchObject({
      'default-src': "'none'",
      'frame-src': 'https://pay.acme.example',
      'connect-src': "'self'",
      'script-src': expect.stringMatching(/^'sha256-[\w+/]{43}='$/),
    })
    expect(text).toContain('src="https://pay.acme.example/embed"')
    expect(text).not.toContain('token-for-the-app')
    expect(text).not.toMatch(/sandbox="[^"]*top-navigation/)
  })

  test('asks apps no longer once the browser has left', async () => {
    const browser = await visitor(apps.add(workspaceId, ACTIVE), 'embed')
    const { answer } = gateway.services.apps
    const left = Promise.withResolvers<void>()
    const gone = new AbortController()
    gateway.services.apps.answer = (_request, response) => {
      response.once('close', () => left.resolve())
      gone.abort(new Error('left'))
    }
    const cookie = [...browser.cookies].map((pair) => pair.join('=')).join('; ')
    const asking = fetch(`${gateway.url}${browser.page}`, { headers: { cookie }, signal: gone.signal })
    await expect(asking).rejects.toThrow('left')
    await left.promise
    gateway.services.apps.answer = answer
  })

  test('gets tokens by its own session', async () => {
    const { id } = apps.add(workspaceId, ACTIVE)
    const browser = await visitor(apps.add(workspaceId, ACTIVE), 'embed')
    const { text } = await browser.send('GET', browser.page)
    const [, session = ''] = /data-session="([^"]+)"/.exec(text) ?? []
    const [, csrf = ''] = /data-csrf="([^"]+)"/.exec(text) ?? []
    const headers = { 'x-csrf-token': csrf }
    const answer = await browser.send('POST', session, { headers })
    expect(answer).toMatchObject({ status: 201, headers: { 'cache-control': 'no-store' } })
    const { token, exp, expires_in, origin } = JSON.parse(answer.text)
    expect({ token, origin }).toEqual({ token: 'token-for-the-app', origin: 'https://pay.acme.example' })
    expect(expires_in).toBe(Math.round(exp - gateway.now() / 1000))
    expect((await browser.send('POST', `/apps/acme-pay/session?installation=${id}`, { headers })).status).toBe(401)
  })

  test.each([
    ['another provider', (page: string) => page.replace('acme-pay', 'other-pay'), 404],
    ['no installation', (page: string) => page.split('?')[0] ?? '', 401],
  ])('of %s is not there', async (_what, change, status) => {
    const browser = await visitor(apps.add(workspaceId, ACTIVE), 'embed')
    expect((await browser.send('GET', change(browser.page))).status).toBe(status)
  })

  test('shows no app that runs at our own origin', async () => {
    const browser = await visitor(apps.add(workspaceId, { ...ACTIVE, origin: 'https://shop.example' }), 'embed')
    expect((await browser.send('GET', browser.page)).status).toBe(404)
  })

  test.each(['consent', 'enter'])('is there for an app that is called %s', async (provider) => {
    const browser = await visitor(apps.add(workspaceId, { ...ACTIVE, provider }), 'embed')
    expect((await browser.send('GET', browser.page)).status).toBe(200)
  })
})

describe('every page', () => {
  test('is in no frame, in no cache, and tells nobody where it was', async () => {
    const consent = await visitor(apps.add(workspaceId), 'consent')
    const embed = await visitor(apps.add(workspaceId, ACTIVE), 'embed')
    const url = await linkTo(apps.add(workspaceId), 'consent')
    const pages = [
      await consent.send('GET', consent.page),
      await embed.send('GET', embed.page),
      await embed.send('GET', url),
      await embed.send('GET', '/apps/enter?link=forged'),
      await testBrowser(gateway).send('GET', consent.page),
      await embed.send('GET', '/apps/any/session'),
    ]
    for (const { headers } of pages) {
      expect(headers).toMatchObject({
        'x-frame-options': 'DENY',
        'cache-control': 'no-store',
        'referrer-policy': 'no-referrer',
        'x-content-type-options': 'nosniff',
      })
      expect(directives(headers)).toMatchObject({
        'default-src': "'none'",
        'frame-ancestors': "'none'",
        'base-uri': "'none'",
        'form-action': "'self'",
      })
    }
  })

  test('says so in words when apps is away, or a method is not allowed', async () => {
    const browser = await visitor(apps.add(workspaceId), 'consent')
    const answer = gateway.services.apps.answer
    gateway.services.apps.answer = (_request, response) => void response.destroy()
    const away = await browser.send('GET', browser.page)
    gateway.services.apps.answer = answer
    expect(away.status).toBe(503)
    expect(away.text).toContain('We cannot answer right now')
    expect(away.text).toContain(String(away.headers['x-request-id']))
  })

  test('takes forms alone, and says so in words', async () => {
    const browser = await visitor(apps.add(workspaceId), 'consent')
    const json = { headers: { 'content-type': 'application/json' }, body: '{}' }
    for (const path of [browser.page, '/apps/enter']) {
      const refused = await browser.send('POST', path, json)
      expect([refused.status, refused.headers['content-type']]).toEqual([415, expect.stringContaining('text/html')])
    }
  })
})

function directives(headers: Record<string, unknown>): Record<string, string> {
  const pairs = String(headers['content-security-policy']).split('; ')
  return Object.fromEntries(pairs.map((pair) => [pair.split(' ', 1)[0], pair.slice(pair.indexOf(' ') + 1)]))
}
