import type { Customer } from '@backoffice/contracts/customer.ts'
import type { Order } from '@backoffice/contracts/order.ts'
import { describe, expect, test } from 'vitest'
import { CHROMIUM } from '../testing/chromium.ts'
import { consoleOf } from '../testing/console.ts'
import { aProduct } from '../testing/products.ts'
import { sharedStack } from '../testing/stack.ts'
import { newWorkspace } from '../testing/workspaces.ts'

const MINUTE_MS = 60_000
/** Gives a page `pass`, which lets a time pass for what waits for longer than a minute. */
const CLOCK = `{
  const { setTimeout: set, clearTimeout: clear } = window
  const waits = new Map()
  let now = 0
  let last = 0
  window.setTimeout = (act, ms, ...rest) => {
    if (!(ms > ${MINUTE_MS})) return set(act, ms, ...rest)
    last -= 1
    waits.set(last, { act, at: now + ms })
    return last
  }
  window.clearTimeout = (id) => waits.delete(id) || clear(id)
  window.pass = (ms) => {
    now += ms
    for (const [id, { act, at }] of [...waits].sort(([, a], [, b]) => a.at - b.at))
      if (at <= now && waits.delete(id)) act()
  }
}`
const DISCARD = 'Discard your changes?'

describe('what somebody types in the console', async () => {
  if (CHROMIUM === undefined) return void test.skip('Chromium is not installed here', () => undefined)
  const description = (await sharedStack()).description()
  const { key, api } = await newWorkspace(description)
  const { page, open, see, click, confirm, fill, text, expectUsable } = await consoleOf(description.gateway, key)
  const typedIn = (selector: string, on = page) =>
    on.$eval(selector, (input) => (input as unknown as { value: string }).value)
  const isClosed = () => page.waitForSelector('dialog', { hidden: true })
  /** Comes back to the window, as often as it takes until the page is read again and has this. */
  const lookAgainFor = (text: string) =>
    page.waitForFunction(
      `dispatchEvent(new Event('visibilitychange')), document.body.innerText.includes(${JSON.stringify(text)})`,
      { polling: 250 },
    )

  test('stays when the page is read again, and has no place for it any more', async () => {
    await api('POST', '/v1/products', aProduct({ sku: 'MUG', price: { USD: 1250 }, stock: 5 }))
    const form = { currency: 'USD', items: [{ sku: 'MUG', quantity: 1 }], status: 'PLACED' }
    const { body: order } = await api<Order>('POST', '/v1/orders', form)
    await open(`/orders/${order.id}`)
    await click('Record a payment')
    await fill('Paid by', 'bank transfer')
    const payment = { amount: 1250, currency: 'USD', provider: 'cash', reference: 'till of a colleague' }
    expect((await api('POST', `/v1/orders/${order.id}/payments`, payment)).status).toBe(201)
    await lookAgainFor('till of a colleague')
    expect(await typedIn('dialog [name=provider]')).toBe('bank transfer')
    await confirm('Cancel')
    await isClosed()
  })

  test('goes only when told so, by Escape, a click beside it, the way back and links', async () => {
    const { body: ada } = await api<Customer>('POST', '/v1/customers', { firstname: 'Ada', note: 'Pays late' })
    await open('/customers')
    await click('Ada')
    await see('Pays late')
    await click('Edit')
    await page.keyboard.type('Grace')
    expect(await typedIn('dialog [name=firstname]'), 'the first field has the focus').toContain('Grace')
    await fill('First name', 'Ada')
    await page.keyboard.press('Escape')
    await isClosed()

    await click('Edit')
    await fill('Note', 'Pays on time since May')
    await page.mouse.click(5, 5)
    // A browser lets a page hold Escape only once, so it is pressed more often.
    for (let times = 0; times < 2; times++) {
      await page.keyboard.press('Escape')
      await see(DISCARD)
      await page.keyboard.press('Escape')
      await page.waitForFunction('document.querySelectorAll("dialog").length === 1')
    }
    await page.evaluate('history.back()')
    await see(DISCARD)
    await expectUsable('unsaved')
    await click('Keep editing')
    expect(await typedIn('dialog [name=note]')).toBe('Pays on time since May')
    await page.evaluate('history.back()')
    await click('Discard')
    await see('Search')
    await isClosed()
    expect(new URL(page.url()).pathname).toBe('/console/customers')
    expect((await api<Customer>('GET', `/v1/customers/${ada.id}`)).body.note).toBe('Pays late')
  })

  test('is shown beside what somebody else has made of the same member of an endpoint meanwhile', async () => {
    const input = { url: 'https://shop.example.com/hooks', enabled_events: ['order.paid'] }
    const { body: endpoint } = await api<{ id: string }>('POST', '/v1/webhooks', input)
    const path = `/v1/webhooks/${endpoint.id}`
    await open(`/endpoints/${endpoint.id}/edit`)
    await fill('Description', 'Mine')
    const theirs = { description: 'Of a colleague', enabled_events: ['order.created'] }
    expect((await api('PUT', path, theirs)).status).toBe(200)
    await click('Save')
    await see('Somebody else has changed this meanwhile')
    await see('Of a colleague')
    const { top, bottom } = (await page.evaluate(
      'document.querySelector(".notice").getBoundingClientRect().toJSON()',
    )) as { top: number; bottom: number }
    expect(top >= 0 && bottom <= (page.viewport()?.height ?? 0), `the notice is at ${top} px`).toBe(true)
    await expectUsable('endpoint-changed-meanwhile')
    for (const way of ['Endpoints', 'Sign out']) {
      await click(way)
      await see(DISCARD)
      await click('Keep editing')
      await page.waitForFunction('document.querySelector("dialog") === null')
    }
    await click('Save mine')
    await see('The endpoint is saved.')
    await see('order.created')
    expect((await api('GET', path)).body).toMatchObject({ ...theirs, description: 'Mine' })
  })

  test('waits behind the login when the session ends by itself, for the same person, and not once signed out', async () => {
    const { body: eve } = await api<Customer>('POST', '/v1/customers', { firstname: 'Eve', note: 'Rings twice' })
    const note = `Wants her parcels at the back door${', and no bell'.repeat(10)}`
    await open(`/customers/${eve.id}`)
    await click('Edit')
    await fill('Note', note)
    await page.deleteCookie(...(await page.cookies()))
    await click('Save')
    await see('The session is over.')
    await page.waitForFunction('document.activeElement.name === "credential"')
    await expectUsable('session-over')
    expect(await text()).not.toContain('Eve')
    await fill('API key', key)
    await click('Sign in')
    await page.waitForSelector('dialog', { visible: true })
    expect(await typedIn('dialog [name=note]')).toBe(note)
    await page.keyboard.press('Escape')
    await click('Keep editing')
    await click('Save')
    await see('The customer is saved.')
    expect((await api<Customer>('GET', `/v1/customers/${eve.id}`)).body.note).toBe(note)

    await click('Sign out')
    await see('API key')
    expect(await page.evaluate('document.body.textContent')).not.toContain('Eve')
  })

  test('goes behind the login when the session ends, which is said before, and at the first key after its end', async () => {
    const { page, open, see, click, fill } = await consoleOf(description.gateway, key)
    const endSession = async () => page.deleteCookie(...(await page.cookies()))
    await page.evaluateOnNewDocument(CLOCK)
    await open('/customers')
    await click('Add customer')
    await fill('First name', 'Mary')
    await page.evaluate(`pass(${7 * 60 * MINUTE_MS})`)
    expect(await page.evaluate('document.body.innerText')).not.toContain('The session ends soon')
    // Somebody is there.
    await page.keyboard.press('Shift')
    await page.evaluate(`pass(${55 * MINUTE_MS})`)
    await see('The session ends soon')
    await endSession()
    await page.evaluate(`pass(${5 * MINUTE_MS})`)
    await see('The session is over.')
    await fill('API key', key)
    await click('Sign in')
    await page.waitForSelector('dialog', { visible: true })
    expect(await typedIn('dialog [name=firstname]', page)).toBe('Mary')

    await endSession()
    await page.evaluate(`{ const now = Date.now; Date.now = () => now() + ${6 * MINUTE_MS} }`)
    await page.focus('dialog [name=lastname]')
    await page.keyboard.press('P')
    await see('The session is over.')
  })

  test('is kept when the order of a collection is left, and no question comes for the same order', async () => {
    const { page, open, see, click } = await consoleOf(description.gateway, key)
    const names = ['Bowl', 'Jug', 'Pan']
    const made = await Promise.all(names.map((name) => api<{ id: string }>('POST', '/v1/products', aProduct({ name }))))
    const { body: collection } = await api<{ id: string }>('POST', '/v1/collections', {
      name: 'Table',
      published: true,
    })
    const products = made.map(({ body }) => body.id)
    await api('POST', `/v1/collections/${collection.id}/products`, { products })
    await open(`/collections/${collection.id}`)
    await click('Arrange')
    await click('↓')
    await click('Collections')
    await see(DISCARD)
    await click('Keep editing')
    await click('Save order')
    await see('The order is saved.')
    const [bowl, jug, pan] = products
    const path = `/v1/collections/${collection.id}/products`
    const inOrder = async () => (await api<{ items: { id: string }[] }>('GET', path)).body.items.map(({ id }) => id)
    expect(await inOrder()).toEqual([jug, bowl, pan])

    await click('Arrange')
    await click('↓')
    const theirs = [pan, jug, bowl]
    const positions = theirs.map((product, position) => ({ product, position }))
    expect((await api('PUT', `${path}/order`, { positions })).status).toBe(204)
    await click('Save order')
    await see('Somebody else has arranged the products meanwhile.')
    expect(await inOrder()).toEqual(theirs)
    await click('Save mine')
    await page.waitForFunction('document.activeElement.textContent === "Products"')
    expect(await inOrder()).toEqual([bowl, jug, pan])
    await click('Arrange')
    await click('↓')
    await click('↓')
    await click('Collections')
    await see('Table')
    expect(await page.$('dialog')).toBeNull()
  })

  test('is not asked about, nor left, while it is being sent', async () => {
    const { page, open, see, click, fill } = await consoleOf(description.gateway, key)
    await open('/customers')
    const { promise: isReleased, resolve: release } = Promise.withResolvers<void>()
    await page.setRequestInterception(true)
    page.on('request', async (request) => {
      if (request.method() === 'POST') await isReleased
      return request.continue()
    })
    await click('Add customer')
    await fill('First name', 'Agatha')
    await page.click('dialog [type=submit]')
    await see('Working…')
    for (let times = 0; times < 3; times++) await page.keyboard.press('Escape')
    await page.click('dialog [aria-label=Close]')
    expect(await page.$$eval('dialog', (open) => open.length)).toBe(1)
    release()
    await see('The customer is added.')
    await page.waitForFunction('document.querySelector("dialog") === null')
  })

  test('is left while it is being sent only when told so, and then leads nowhere', async () => {
    const { page, open, see, click, fill } = await consoleOf(description.gateway, key)
    await open('/products')
    const { promise: isReleased, resolve: release } = Promise.withResolvers<void>()
    await page.setRequestInterception(true)
    page.on('request', async (request) => {
      if (request.method() === 'POST') await isReleased
      return request.continue()
    })
    await click('Customers')
    await click('Add customer')
    await fill('First name', 'Dorothy')
    await page.click('dialog [type=submit]')
    await see('Working…')
    await page.evaluate('history.back()')
    await see('Leave before the answer?')
    await click('Stay')
    await page.evaluate('history.back()')
    await click('Leave')
    await see('Add product')
    release()
    await see('The customer is added.')
    expect(new URL(page.url()).pathname).toBe('/console/products')
  })

  test('is not left by the way back before the secret of a new endpoint is copied', async () => {
    const { page, open, see, click, fill, expectUsable } = await consoleOf(description.gateway, key)
    await open('/endpoints')
    await click('Add an endpoint')
    await fill('URL', 'https://shop.example.com/once')
    await click('Add')
    await see('It is not shown again.')
    await page.evaluate('navigator.clipboard.writeText = () => Promise.reject()')
    await click('Copy')
    await see('The browser does not let this page copy.')
    await expectUsable('said-over-a-dialog')
    await page.click('.message.bad [aria-label=Close]')
    await page.waitForFunction('document.querySelector(".message.bad") === null')
    await page.evaluate('history.back()')
    await see('Leave the page without it?')
    await click('Stay')
    await see('whsec_')
    await click('Done')
    await page.evaluate('history.back()')
    await see('Oldest pending')
    expect(await page.$('dialog')).toBeNull()
  })

  test('waits behind the login for half an hour, and a secret that is shown once not at all', async () => {
    const input = { url: 'https://shop.example.com/waits', enabled_events: ['order.paid'] }
    const { body: endpoint } = await api<{ id: string }>('POST', '/v1/webhooks', input)
    const { page, open, see, click, confirm, fill } = await consoleOf(description.gateway, key)
    const endSession = async () => page.deleteCookie(...(await page.cookies()))
    const all = () => page.evaluate('document.body.innerHTML')
    const lookAgain = `dispatchEvent(new Event('visibilitychange')), document.body.innerText.includes('is over.')`
    await page.evaluateOnNewDocument(CLOCK)

    await open(`/endpoints/${endpoint.id}/edit`)
    await fill('Description', 'Mine')
    await endSession()
    await click('Save')
    await see('The session is over.')
    await page.evaluate(`pass(${29 * MINUTE_MS})`)
    await fill('API key', key)
    await click('Sign in')
    await page.waitForSelector('[name=description]', { visible: true })
    expect(await typedIn('[name=description]', page)).toBe('Mine')
    await click('Save')
    await see('The endpoint is saved.')

    await click('Rotate the secret')
    await confirm('Rotate')
    await see('It is not shown again.')
    expect(await all()).toContain('whsec_')
    await endSession()
    await page.waitForFunction(lookAgain, { polling: 250 })
    await page.waitForFunction(`!document.body.innerHTML.includes('whsec_')`)
    expect(await all()).toContain('shop.example.com')
    await page.evaluate(`pass(${30 * MINUTE_MS})`)
    await page.waitForFunction(`!document.body.innerHTML.includes('shop.example.com')`)
    expect(await all()).not.toContain('The session is over.')
    await fill('API key', key)
    await click('Sign in')
    await see('shop.example.com')
  })
})
