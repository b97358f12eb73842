import { setTimeout as pause } from 'node:timers/promises'
import type { Customer } from '@backoffice/contracts/customer.ts'
import { describe, expect, test } from 'vitest'
import { CHROMIUM } from '../testing/chromium.ts'
import { consoleOf } from '../testing/console.ts'
import { sharedStack } from '../testing/stack.ts'
import { newWorkspace } from '../testing/workspaces.ts'

describe('the console', async () => {
  if (CHROMIUM === undefined) return void test.skip('Chromium is not installed here', () => undefined)
  const description = (await sharedStack()).description()

  test('signs in with an API key, shows where there is nothing yet, and signs out', async () => {
    const { key } = await newWorkspace(description)
    const { page, see, click, expectUsable } = await consoleOf(description.gateway, key, '/deliveries')
    await see('No deliveries')
    await expectUsable('deliveries-empty')
    await click('Sign out')
    await see('Sign in')
    await expectUsable('login')

    await page.setRequestInterception(true)
    const ofProxy = { contentType: 'text/html', body: '<h1>Log in to the network</h1>' }
    page.on('request', (request) =>
      request.url().endsWith('/console/session') ? request.respond(ofProxy) : request.continue(),
    )
    await page.reload()
    await see('The server answered 200.')
    await see('Try again')
  })

  test('loads the page again, once, when its script is of another build', async () => {
    const { key } = await newWorkspace(description)
    const { page, see } = await consoleOf(description.gateway, key)
    let isRefused = false
    await page.setRequestInterception(true)
    page.on('request', (request) => {
      if (isRefused || !/\/assets\/index-[^/]+\.js$/.test(request.url())) return request.continue()
      isRefused = true
      return request.respond({ status: 404 })
    })
    await page.reload()
    await see('Sign out')
    expect(isRefused).toBe(true)
  })

  test('loads the page again for a file of another build when somebody goes there, not when the pointer is there', async () => {
    const { key } = await newWorkspace(description)
    const { page, see, click } = await consoleOf(description.gateway, key)
    let refused = 0
    let isOfBefore = true
    page.on('domcontentloaded', () => {
      isOfBefore = false
    })
    await page.setRequestInterception(true)
    page.on('request', (request) => {
      if (!isOfBefore || !/\/assets\/customers[^/]*\.js$/.test(request.url())) return request.continue()
      refused += 1
      return request.respond({ status: 404 })
    })
    await page.hover('a[href="/console/customers"]')
    await expect.poll(() => refused).toBe(1)
    await page.evaluate('new Promise((done) => setTimeout(done, 500))')
    expect(isOfBefore).toBe(true)
    await click('Customers')
    await see('Add customer')
    expect([new URL(page.url()).pathname, isOfBefore]).toEqual(['/console/customers', false])
  })

  test('leads the focus to the title of the page that somebody goes to, and to none of the first', async () => {
    const { key } = await newWorkspace(description)
    const { page, open, see, click } = await consoleOf(description.gateway, key)
    const focused = () => page.evaluate('document.activeElement.tagName + " " + document.activeElement.textContent')
    await open('/orders')
    await see('No orders yet')
    expect(await focused()).toMatch(/^BODY/)
    await click('Customers')
    await see('Add customer')
    expect(await focused()).toBe('H1 Customers')
    await page.goBack()
    await see('No orders yet')
    expect(await focused()).toBe('H1 Orders')
  })

  test('takes a time that is typed into a filter as a whole, in the zone of the viewer', async () => {
    const { key } = await newWorkspace(description)
    const { page, open, see } = await consoleOf(description.gateway, key)
    await page.emulateTimezone('Europe/Berlin')
    await open('/orders')
    await see('No orders yet')
    const type = async (keys: string) => {
      await page.focus('input[type=datetime-local]')
      await page.keyboard.type(keys)
      // Leaves the field.
      await page.focus('input[type=search]')
    }
    await type('031520260930AM')
    await page.waitForFunction("location.search === '?since=2026-03-15T08%3A30%3A00.000Z'")
    await see('No order fits')
    await type('04152027')
    await page.waitForFunction("location.search === '?since=2027-04-15T07%3A30%3A00.000Z'")
  })

  test('shows two lines of a long name in lists, and no table is wider than the screen', async () => {
    const { key, api } = await newWorkspace(description)
    const make = async (path: string, body: unknown) => expect((await api('POST', path, body)).status).toBe(201)
    const name = 'Scarf of the finest merino wool with a long name '.repeat(5)
    const option = 'Size of the sleeve '.repeat(3)
    await make('/v1/products', {
      ...{ type: 'VARIABLE_PRODUCT', name, options: [{ name: option, values: ['M'] }] },
      variants: [{ sku: 'W'.repeat(250), attributes: { [option]: 'M' }, price: { NGN: 123_456_789_012 }, stock: 9 }],
    })
    await make('/v1/collections', { name, published: true })
    const customer = { firstname: name, email: `${'m'.repeat(60)}@example.com` }
    const items = [{ sku: 'W'.repeat(250), quantity: 1 }]
    await make('/v1/orders', { currency: 'NGN', customer, items, status: 'PLACED', sales_channel: 'W'.repeat(250) })
    const { page, open, see, expectUsable } = await consoleOf(description.gateway, key)
    for (const list of ['products', 'collections', 'customers', 'orders']) {
      await open(`/${list}`)
      await page.waitForSelector('.cut')
      await page.setViewport({ width: 820, height: 1180 })
      expect(await page.evaluate('document.documentElement.scrollWidth'), `${list} on a tablet`).toBe(820)
      await expectUsable(`long-${list}`)
      const lines = await page.$$eval('.cut', (cuts) =>
        cuts.map((cut) => {
          const { clientHeight } = cut as unknown as { clientHeight: number }
          return Math.round(clientHeight / 22)
        }),
      )
      expect(Math.max(...lines), list).toBe(2)
    }
    await open('/products')
    await page.locator('tbody a').click()
    await see('1 variant')
    await expectUsable('long-product')
  })

  test('shows the whole table of deliveries between tablets and wide screens', async () => {
    const { key, api } = await newWorkspace(description)
    const url = 'https://webhooks.of-the-warehouse.shop.example.com/hooks'
    expect((await api('POST', '/v1/webhooks', { url, enabled_events: ['customer.updated'] })).status).toBe(201)
    const { body } = await api<Customer>('POST', '/v1/customers', { firstname: 'Ada' })
    expect((await api('PUT', `/v1/customers/${body.id}`, { firstname: 'Eve' })).status).toBe(200)
    const { page, open, see } = await consoleOf(description.gateway, key)
    await open('/deliveries')
    await see('pending')
    for (const width of [1024, 1100, 1186, 1280, 1359]) {
      await page.setViewport({ width, height: 800 })
      expect(await page.evaluate('document.documentElement.scrollWidth'), `${width} px`).toBe(width)
      const heights = await page.$$eval('td time', (times) =>
        times.map((time) => (time as unknown as { offsetHeight: number }).offsetHeight),
      )
      expect(Math.max(...heights), `lines of a time at ${width} px`).toBeLessThan(60)
    }
  })

  test('sends nothing again any more once the page is left by the way back', async () => {
    const { key } = await newWorkspace(description)
    const { page, see, click } = await consoleOf(description.gateway, key)
    let asked = 0
    await page.setRequestInterception(true)
    page.on('request', async (request) => {
      if (!request.url().endsWith('/v1/deliveries/resend')) return request.continue()
      asked += 1
      await pause(100)
      return request.respond({
        contentType: 'application/json',
        body: '{ "deliveries": 1, "skipped": 0, "next": "more" }',
      })
    })
    await click('Deliveries')
    await click('failed')
    await click('Resend all found…')
    await click('Send again')
    await see('so far…')
    await page.goBack()
    await page.waitForFunction("document.querySelector('dialog') === null")
    const before = asked
    await pause(1000)
    expect(asked).toBeLessThanOrEqual(before + 1)
  })

  test('leads to the login with a cookie that is over, also from an address that has sent many wrong keys', async () => {
    const { key } = await newWorkspace(description)
    const { page, see } = await consoleOf(description.gateway, key)
    await page.setRequestInterception(true)
    const ofFlood = { status: 429, headers: { 'error-reason': 'too_many_wrong_keys' }, body: '{}' }
    page.on('request', (request) =>
      /\/console\/(session|api)/.test(request.url()) ? request.respond(ofFlood) : request.continue(),
    )
    await page.locator('::-p-text(Products)').click()
    await see('API key')
    await page.reload()
    await see('API key')
  })

  test('leads to the login when another tab ends the session, and back to the same page', async () => {
    const { key } = await newWorkspace(description)
    const { page, see, click, fill } = await consoleOf(description.gateway, key, '/products?query=linen')
    const other = await page.browserContext().newPage()
    await other.goto(`${description.gateway}/console/orders`)
    await other.locator('::-p-text(Sign out)').click()
    await page.bringToFront()
    await see('API key')
    await fill('API key', key)
    await click('Sign in')
    await see('No product is like this.')
    expect(new URL(page.url()).search).toBe('?query=linen')
  })
})
