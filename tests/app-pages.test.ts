import { eventually } from '@backoffice/testing/eventually.ts'
import { startReceiver } from '@backoffice/testing/receiver.ts'
import type { Frame, Page } from 'puppeteer-core'
import { describe, expect, test } from 'vitest'
import { apiWith } from './testing/api.ts'
import { CHROMIUM, startBrowser } from './testing/chromium.ts'
import { sharedStack } from './testing/stack.ts'
import { newWorkspace } from './testing/workspaces.ts'

/** The app's embed. It keeps the messages that it gets. */
const EMBED = `<!doctype html><title>Test app</title><script>
  window.received = []
  addEventListener('message', ({ origin, data }) => received.push({ origin, ...data }))
  const ask = (type) => parent.postMessage({ type }, '*')
  ask('READY')
</script>`

/** A window that the embed opens. It asks the platform's page as an embed does. */
const POPUP = `<!doctype html><script>
  window.received = []
  addEventListener('message', ({ data }) => received.push(data))
  for (const type of ['READY', 'GET_THEME', 'GET_SESSION_TOKEN', 'LAST']) opener.top.postMessage({ type }, '*')
</script>`

interface Installation {
  readonly id: string
  readonly workspace: string
  readonly state: string
  readonly consent_url: string
}

interface Message {
  readonly origin: string
  readonly type: string
  readonly token?: string
  readonly exp?: number
  readonly theme?: string
}

/** Tokens are replaced a minute before they expire: those of this page after a tenth of a second. */
const replaceTokensSoon = (page: Page) =>
  page.evaluateOnNewDocument(`{
    const send = window.fetch
    window.fetch = async (...request) => {
      const answer = await send(...request)
      return answer.ok ? Response.json({ ...(await answer.json()), expires_in: 60.1 }) : answer
    }
  }`)

/** The second answer breaks off. */
const BROKEN_ANSWER = `{
  const send = window.fetch
  let sent = 0
  window.fetch = async (...request) => {
    const answer = await send(...request)
    sent += 1
    return sent === 2 ? new Response('{') : answer
  }
}`

const textOf = (page: Page) => page.evaluate('document.body.innerText') as Promise<string>
const receivedBy = (frame: Frame | Page) => frame.evaluate('window.received') as Promise<Message[]>
const claimsOf = (token = '') => JSON.parse(Buffer.from(token.split('.')[1] ?? '', 'base64url').toString())

describe('in a browser', async () => {
  if (CHROMIUM === undefined) return void test.skip('Chromium is not installed here', () => undefined)
  const [stack, app, browser] = await Promise.all([sharedStack(), startReceiver(), startBrowser()])
  app.answerWith((response, { path }) => {
    const content = { '/embed': EMBED, '/popup': POPUP }[path] ?? '{}'
    response
      .writeHead(200, { 'content-type': path.startsWith('/install') ? 'application/json' : 'text/html' })
      .end(content)
  })
  const { gateway, admin_token } = stack.description()
  const admin = apiWith(gateway, admin_token)

  const manifest = { provider: 'test-app', name: 'Test App', scopes: ['sale::read', 'customer'], embed: '/embed' }
  await register('test-app')

  /** Registers an app and returns its id. */
  async function register(provider: string): Promise<string> {
    const body = { origin: app.url, manifest: { ...manifest, provider } }
    const registered = await admin<{ id: string }>('POST', '/admin/v1/apps', body)
    expect(registered.status).toBe(201)
    return registered.body.id
  }

  async function install(provider = 'test-app', workspace?: string): Promise<Installation> {
    const path = `/admin/v1/workspaces/${workspace ?? (await newWorkspace(stack.description())).id}/installations`
    const { status, body } = await admin<Installation>('POST', path, { provider })
    expect(status).toBe(201)
    return body
  }

  const stateOf = async ({ id }: Installation) =>
    (await admin<Installation>('GET', `/admin/v1/installations/${id}`)).body.state

  async function installed(provider?: string): Promise<Installation> {
    const installation = await install(provider)
    await admin('POST', `/admin/v1/installations/${installation.id}/consent`, {})
    await eventually('the app is installed', async () => (await stateOf(installation)) === 'ACTIVE')
    return installation
  }

  /** Opens the embed with a one-time link; `prepare` may change the page before. */
  async function openEmbed({ id }: Installation, prepare?: (page: Page) => Promise<unknown>) {
    const page = await browser.newPage()
    await prepare?.(page)
    const { body } = await admin<{ embed_url: string }>('POST', `/admin/v1/installations/${id}/session`, {})
    await page.goto(body.embed_url)
    await Promise.all([page.waitForNavigation(), page.click('button')])
    const frame = await eventually('the embed', () => page.frames().find((one) => one.url() === `${app.url}/embed`))
    return { page, frame, embedUrl: body.embed_url }
  }

  const messageTo = (frame: Frame, type: string) =>
    eventually(`${type} for the embed`, async () => (await receivedBy(frame)).findLast((one) => one.type === type))

  test('a merchant approves an app, which is installed then', async () => {
    const installation = await install()
    const page = await browser.newPage()
    await page.goto(installation.consent_url)
    await Promise.all([page.waitForNavigation(), page.click('button')])
    expect(page.url()).toBe(`${gateway}/apps/consent/${installation.id}`)
    expect(await textOf(page)).toContain('Do everything with your customers')
    expect(await stateOf(installation)).toBe('PENDING')

    await Promise.all([page.waitForNavigation(), page.click('button[value=approve]')])
    await eventually('the page says that the app is installed', async () =>
      (await textOf(page).catch(() => '')).includes('Test App is installed'),
    )
    expect(await stateOf(installation)).toBe('ACTIVE')
  })

  test('a merchant declines an app, which hears nothing of it', async () => {
    const installation = await install()
    const page = await browser.newPage()
    await page.goto(installation.consent_url)
    await Promise.all([page.waitForNavigation(), page.click('button')])
    const before = app.requests.length
    await Promise.all([page.waitForNavigation(), page.click('button[value=decline]')])
    expect(await textOf(page)).toContain('You declined')
    expect(await stateOf(installation)).toBe('UNINSTALLED')
    expect(app.requests.slice(before)).toEqual([])
  })

  test('an embed gets a token for its workspace, and another browser gets nothing', async () => {
    const installation = await installed()
    const { page, frame, embedUrl } = await openEmbed(installation)
    const { origin, token, exp } = await messageTo(frame, 'SESSION_TOKEN')
    expect(origin).toBe(gateway)
    expect(claimsOf(token)).toMatchObject({ purpose: 'session', aud: 'test-app', provider: 'test-app', exp })

    const other = await (await browser.createBrowserContext()).newPage()
    for (const url of [page.url(), embedUrl]) {
      const answer = await other.goto(url)
      expect([401, 410]).toContain(answer?.status())
      expect(await textOf(other)).not.toContain('Test App')
    }
  })

  test('an embed gets the theme, and again when it changes', async () => {
    const light = [{ name: 'prefers-color-scheme', value: 'light' }]
    const { page, frame } = await openEmbed(await installed(), (one) => one.emulateMediaFeatures(light))
    expect(await messageTo(frame, 'THEME')).toMatchObject({ theme: 'light' })
    await page.emulateMediaFeatures([{ name: 'prefers-color-scheme', value: 'dark' }])
    await eventually('the dark theme', async () => (await messageTo(frame, 'THEME')).theme === 'dark')
    await frame.evaluate("received.length = 0; ask('GET_THEME')")
    expect(await messageTo(frame, 'THEME')).toMatchObject({ theme: 'dark' })
  })

  test.each([
    ['of another origin', (url: string) => url.replace('127.0.0.1', 'localhost')],
    ["of the app's origin", (url: string) => url],
  ])('a window %s that is not the embed causes no answer', async (_which, originOf) => {
    const { page, frame } = await openEmbed(await installed())
    await messageTo(frame, 'SESSION_TOKEN')
    await frame.evaluate('received.length = 0')
    // The page's own listener has run when this one does, and messages to a window keep their order.
    await page.evaluate(`addEventListener('message', ({ data, source }) => {
      if (data.type === 'LAST') source.postMessage({ type: 'LAST' }, '*')
    })`)
    const url = `${originOf(app.url)}/popup`
    await frame.evaluate(`void window.open('${url}')`)
    const popup = await eventually('the popup', async () => (await browser.pages()).find((one) => one.url() === url))
    await eventually('the answer to its last message', async () => (await receivedBy(popup)).length > 0)
    expect(await receivedBy(popup)).toEqual([{ type: 'LAST' }])
    await popup.close()
    // Nor has the embed got an answer that it did not ask for.
    await frame.evaluate("ask('GET_THEME')")
    await messageTo(frame, 'THEME')
    expect((await receivedBy(frame)).map(({ type }) => type)).toEqual(['THEME'])
  })

  test('an embed gets a new token before the old one expires, until the app is uninstalled', async () => {
    const installation = await installed()
    const { page, frame } = await openEmbed(installation, async (one) => {
      await replaceTokensSoon(one)
      await one.evaluateOnNewDocument(BROKEN_ANSWER)
    })
    await eventually('the third token', async () => {
      const tokens = (await receivedBy(frame)).filter(({ type }) => type === 'SESSION_TOKEN')
      return tokens.length >= 3
    })
    await admin('DELETE', `/admin/v1/installations/${installation.id}`)
    await eventually('the page says so', async () =>
      (await textOf(page)).includes('Test App is not installed any more'),
    )
    expect(page.frames()).toHaveLength(1)
    expect((await page.reload())?.status()).toBe(410)
  })

  test('an embed of an app that the platform suspends does not say that the app is gone', async () => {
    const id = await register('resting-app')
    const { page, frame } = await openEmbed(await installed('resting-app'), replaceTokensSoon)
    await messageTo(frame, 'SESSION_TOKEN')
    expect((await admin('POST', `/admin/v1/apps/${id}/suspend`, {})).status).toBe(200)
    await eventually('the page says so', async () => (await textOf(page)).includes('or it is suspended for now'))
  })

  test('an embed of an app that moves to another origin is told so, and gets no token there', async () => {
    const id = await register('moving-app')
    const { page, frame } = await openEmbed(await installed('moving-app'), replaceTokensSoon)
    await messageTo(frame, 'SESSION_TOKEN')
    const moved = {
      origin: app.url.replace('127.0.0.1', 'localhost'),
      manifest: { ...manifest, provider: 'moving-app' },
    }
    expect((await admin('PUT', `/admin/v1/apps/${id}`, moved)).status).toBe(200)
    await eventually('the page says so', async () => (await textOf(page)).includes('has moved to another address'))
    expect(page.frames()).toHaveLength(1)
  })

  test.each([
    ['scopes', { scopes: ['sale::read', 'customer', '*'] }],
    ['events', { webhooks: { path: '/hook', events: ['*'] } }],
  ])('an approval of a list of %s that has changed since is none', async (what, more) => {
    const provider = `raising-${what}`
    const id = await register(provider)
    const installation = await install(provider)
    const page = await browser.newPage()
    await page.goto(installation.consent_url)
    await Promise.all([page.waitForNavigation(), page.click('button')])
    const raised = { manifest: { ...manifest, provider, ...more } }
    expect((await admin('PUT', `/admin/v1/apps/${id}`, raised)).status).toBe(200)
    await install(provider, installation.workspace)
    const [answer] = await Promise.all([page.waitForNavigation(), page.click('button[value=approve]')])
    expect(answer?.status()).toBe(409)
    expect(await textOf(page)).toContain('The request has changed')
    expect(await stateOf(installation)).toBe('PENDING')
  })

  test('the pages fetch nothing from elsewhere, and break none of their own rules', async () => {
    const page = await browser.newPage()
    const [requested, complaints]: string[][] = [[], []]
    page.on('request', (request) => requested?.push(new URL(request.url()).origin))
    page.on('console', (message) => complaints?.push(message.text()))
    const installation = await install()
    await page.goto(installation.consent_url)
    await Promise.all([page.waitForNavigation(), page.click('button')])
    await page.setViewport({ width: 320, height: 640 })
    expect(await page.evaluate('document.documentElement.scrollWidth')).toBe(320)
    const origins = new Set(requested?.filter((origin) => origin !== 'null'))
    expect([...origins]).toEqual([gateway])
    expect(complaints).toEqual([])
  })

  test('the guides are searched from the reference on, their code is copied, and no width breaks them', async () => {
    const page = await browser.newPage()
    const [requested, complaints]: string[][] = [[], []]
    page.on('request', (request) => requested?.push(request.url()))
    await browser.defaultBrowserContext().overridePermissions(gateway, ['clipboard-read', 'clipboard-sanitized-write'])
    await page.goto(`${gateway}/docs`)
    const link = await page.waitForSelector('a[href$="/docs/guides"]')
    await page.goto(String(await link?.evaluate((element) => (element as unknown as { href: string }).href)))
    page.on('console', (message) => complaints?.push(message.text()))
    await page.keyboard.type('/what arrives')
    await Promise.all([page.waitForNavigation(), page.keyboard.press('Enter')])
    await Promise.all([page.waitForNavigation(), page.click('.found a')])
    expect(page.url()).toBe(`${gateway}/docs/guides/webhooks#what-arrives`)
    await page.click('#what-arrives + .code button')
    const copied = () => page.evaluate('navigator.clipboard.readText()')
    await expect.poll(copied).toMatch(/^POST \/webhooks HTTP\/1\.1\n/)
    for (const width of [375, 768, 1600]) {
      await page.setViewport({ width, height: 900 })
      expect(await page.evaluate('document.documentElement.scrollWidth')).toBe(width)
    }
    expect(requested?.filter((url) => !url.startsWith(gateway) && !url.startsWith('data:'))).toEqual([])
    expect(complaints).toEqual([])
  })
})
