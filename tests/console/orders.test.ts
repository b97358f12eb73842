import { describe, expect, test } from 'vitest'
import { CHROMIUM } from '../testing/chromium.ts'
import { consoleOf } from '../testing/console.ts'
import { aProduct } from '../testing/products.ts'
import { sharedStack } from '../testing/stack.ts'
import { newWorkspace } from '../testing/workspaces.ts'

interface PlacedOrder {
  readonly id: string
  readonly order_number: string
  readonly customer: { readonly id: string }
}

const MARKUP = '<img src=x onerror=alert(1)>'

/** The next POST arrives, and its answer does not: `lose = true` in the page. */
const LOST_ANSWERS = `{
  const send = window.fetch
  window.fetch = async (request, ...rest) => {
    const answer = await send(request, ...rest)
    if (!window.lose || request.method !== 'POST') return answer
    window.lose = false
    throw new TypeError('Failed to fetch')
  }
}`

describe('orders in the console', async () => {
  if (CHROMIUM === undefined) return void test.skip('Chromium is not installed here', () => undefined)
  const description = (await sharedStack()).description()

  /** An order of two mugs for USD 25.00, paid, with texts of somebody who means harm. */
  async function paidOrder({ api }: Awaited<ReturnType<typeof newWorkspace>>) {
    const product = aProduct({ name: `Mug ${MARKUP}`, sku: 'MUG', price: { USD: 1250 } })
    expect((await api('POST', '/v1/products', product)).status).toBe(201)
    const { status, body: order } = await api<PlacedOrder>('POST', '/v1/orders', {
      currency: 'USD',
      items: [{ sku: 'MUG', quantity: 2 }],
      customer: { firstname: 'إبريق', lastname: MARKUP, email: 'ada@example.com' },
      shipping_address: { street: MARKUP, city: 'C'.repeat(10_000) },
      note: 'N'.repeat(10_000),
      sales_channel: 'web',
      status: 'PLACED',
    })
    expect(status).toBe(201)
    const payment = { amount: 2500, currency: 'USD', provider: 'cash', reference: MARKUP }
    expect((await api('POST', `/v1/orders/${order.id}/payments`, payment)).status).toBe(201)
    return order
  }

  test('an order is found, refunded in part and then the rest; a double click refunds once', async () => {
    const workspace = await newWorkspace(description)
    const { id, order_number, customer } = await paidOrder(workspace)
    const start = '/orders?sales_channel=web'
    const { page, see, click, fill, confirm, text, expectUsable } = await consoleOf(
      description.gateway,
      workspace.key,
      start,
    )
    const isClosed = () => page.waitForSelector('dialog', { hidden: true })
    const refunds = async () => {
      const { body } = await workspace.api<{ items: { amount: number }[] }>('GET', `/v1/orders/${id}/refunds`)
      return body.items.map(({ amount }) => amount)
    }
    await see(order_number)
    await expectUsable('orders')
    await fill('Number, name or e-mail', 'nobody')
    await page.keyboard.press('Enter')
    await see('No order fits')
    await click('Show all orders')
    await click(order_number)
    await see('What happened')
    await expectUsable('order')

    await click('Refund')
    await fill('Amount in USD', '1,000.00')
    await confirm('Record the refund')
    await see('at most 2 decimals')
    await fill('Amount in USD', '12.5')
    await fill('Reason', MARKUP)
    await expectUsable('order-refund')
    await page.evaluate(`{
      const button = [...document.querySelectorAll('dialog button')].find((one) => one.type === 'submit')
      button.click()
      button.click()
    }`)
    await isClosed()
    await see('is recorded')
    expect(await refunds()).toEqual([1250])

    await click('Refund')
    await see('can be refunded')
    await confirm('Record the refund')
    await isClosed()
    await see('refunded')
    expect(await refunds()).toEqual([1250, 1250])

    await click('Fulfil')
    await confirm('Record what is sent')
    await isClosed()
    await see('The goods are recorded as sent.')
    await click('Take goods back')
    await fill(`Mug ${MARKUP} (MUG), up to 2`, '1')
    await confirm('Record the return')
    await see('Came back')
    expect(await text()).not.toContain('Buyer on the invoice')
    await workspace.api('PUT', `/v1/customers/${customer.id}`, { firstname: 'Eve', lastname: 'Married' })
    await page.reload()
    await see('Eve Married')
    await see('Buyer on the invoice')
    await expectUsable('order-after')
  })

  test('what was sent counts whole, in however many parcels', async () => {
    const { api, key } = await newWorkspace(description)
    await api('POST', '/v1/products', aProduct({ sku: 'MUG', price: { USD: 1250 }, stock: 102 }))
    const form = { currency: 'USD', items: [{ sku: 'MUG', quantity: 102 }], status: 'PLACED' }
    const { body: order } = await api<{ id: string; items: { id: string }[] }>('POST', '/v1/orders', form)
    for (let parcel = 0; parcel < 101; parcel++) {
      const sent = { items: [{ id: order.items[0]?.id, quantity: 1 }] }
      expect((await api('POST', `/v1/orders/${order.id}/fulfillments`, sent)).status).toBe(201)
    }
    const { see, click } = await consoleOf(description.gateway, key, `/orders/${order.id}`)
    await click('Fulfil')
    await see('up to 1')
  })

  test('what had no answer and is on the page is not taken for what is recorded next', async () => {
    const { api, key } = await newWorkspace(description)
    await api('POST', '/v1/products', aProduct({ sku: 'MUG', price: { USD: 1250 }, stock: 9 }))
    const form = { currency: 'USD', items: [{ sku: 'MUG', quantity: 3 }], status: 'PLACED' }
    const { body: order } = await api<{ id: string }>('POST', '/v1/orders', form)
    const { page, open, see, click, fill, confirm } = await consoleOf(description.gateway, key)
    const totalOf = async (path: string) => {
      const { body } = await api<{ items: unknown[] }>('GET', `/v1/orders/${order.id}/${path}`)
      return body.items.length
    }
    await page.evaluateOnNewDocument(LOST_ANSWERS)
    await open(`/orders/${order.id}`)
    for (const [path, button, label, typed, submit, done] of [
      ['fulfillments', 'Fulfil', 'Mug (MUG), up to 3', '1', 'Record what is sent', 'The goods are recorded'],
      ['payments', 'Record a payment', 'Amount in USD', '5', 'Record the payment', 'A payment of'],
    ] as const) {
      await click(button)
      await fill(label, typed)
      await page.evaluate('lose = true')
      await confirm(submit)
      await see('The server does not answer.')
      // The page behind is read again. Sent once more from here it would be the same one.
      await see(path === 'payments' ? 'Payment' : '1 × Mug')
      await page.keyboard.press('Escape')
      await click('Discard')
      await page.waitForSelector('dialog', { hidden: true })

      await click(button)
      await fill(label.replace('3', '2'), typed)
      await confirm(submit)
      await see(done)
      await page.waitForSelector('dialog', { hidden: true })
      expect([path, await totalOf(path)]).toEqual([path, 2])
    }
  })

  test('an instalment under the reference of the one before is not said to be recorded', async () => {
    const { api, key } = await newWorkspace(description)
    await api('POST', '/v1/products', aProduct({ sku: 'MUG', price: { USD: 1250 }, stock: 9 }))
    const form = { currency: 'USD', items: [{ sku: 'MUG', quantity: 2 }], status: 'PLACED' }
    const { body: order } = await api<{ id: string }>('POST', '/v1/orders', form)
    const { page, see, click, fill, confirm } = await consoleOf(description.gateway, key, `/orders/${order.id}`)
    const record = async () => {
      await click('Record a payment')
      await fill('Amount in USD', '5')
      await fill('Reference', 'rent')
      await confirm('Record the payment')
    }
    await record()
    await page.waitForSelector('dialog', { hidden: true })
    await record()
    await see('recorded already')
    await fill('Reference', 'rent, second part')
    await confirm('Record the payment')
    await page.waitForSelector('dialog', { hidden: true })
    const { body } = await api<{ paid: number }>('GET', `/v1/orders/${order.id}/balance`)
    expect(body.paid).toBe(1000)
  })

  test('an act on an order that has changed meanwhile is not done before the order is seen', async () => {
    const { api, key } = await newWorkspace(description)
    await api('POST', '/v1/products', aProduct({ sku: 'MUG', price: { USD: 1250 } }))
    const form = { currency: 'USD', items: [{ sku: 'MUG', quantity: 2 }] }
    const { body: order } = await api<{ id: string }>('POST', '/v1/orders', form)
    const path = `/v1/orders/${order.id}`
    const statusOf = async () => (await api<{ status: string }>('GET', path)).body.status
    const { page, see, click, confirm } = await consoleOf(description.gateway, key, `/orders/${order.id}`)
    await see('What happened')
    for (const [act, note] of [
      ['Issue the invoice', 'as a gift'],
      ['Cancel the order', 'as two gifts'],
    ] as const) {
      expect((await api('PUT', path, { note })).status).toBe(200)
      await click(act)
      await confirm(act)
      await see('the order has changed meanwhile')
      await page.click('.message.bad [aria-label=Close]')
      await page.waitForFunction(`document.body.innerText.includes(${JSON.stringify(note)})`)
    }
    expect(await statusOf()).toBe('CART')
    await click('Cancel the order')
    await confirm('Cancel the order')
    await see('The order is cancelled.')
    expect(await statusOf()).toBe('CANCELLED')
  })

  test('what had no answer is sent again as the same one, also when the session is refused in between', async () => {
    const { api, key } = await newWorkspace(description)
    await api('POST', '/v1/products', aProduct({ sku: 'MUG', price: { USD: 1250 }, stock: 9 }))
    const form = { currency: 'USD', items: [{ sku: 'MUG', quantity: 3 }], status: 'PLACED' }
    const { body: order } = await api<{ id: string }>('POST', '/v1/orders', form)
    const { page, open, see, click, fill, confirm } = await consoleOf(description.gateway, key)
    await page.evaluateOnNewDocument(LOST_ANSWERS)
    await open(`/orders/${order.id}`)
    await click('Fulfil')
    await fill('Mug (MUG), up to 3', '1')
    await page.evaluate('lose = true')
    await confirm('Record what is sent')
    await see('The server does not answer.')
    await see('1 × Mug')
    await page.deleteCookie(...(await page.cookies()))
    await confirm('Record what is sent')
    await see('The session is over.')
    await fill('API key', key)
    await click('Sign in')
    await page.waitForSelector('dialog', { visible: true })
    await confirm('Record what is sent')
    await see('The goods are recorded')
    const { body } = await api<{ items: { items: { id: string }[] }[] }>('GET', `/v1/orders/${order.id}/fulfillments`)
    expect(body.items).toHaveLength(1)
    await page.waitForSelector('dialog', { hidden: true })

    // Of the order something else has changed when it is sent again.
    const keys: unknown[] = []
    await page.setRequestInterception(true)
    page.on('request', (request) => {
      if (request.method() !== 'POST') return request.continue()
      keys.push(request.headers()['idempotency-key'])
      return keys.length === 1 ? request.abort() : request.continue()
    })
    await click('Record a payment')
    const items = [{ id: body.items[0]?.items[0]?.id, quantity: 2 }]
    expect((await api('POST', `/v1/orders/${order.id}/fulfillments`, { items })).status).toBe(201)
    await fill('Amount in USD', '5')
    await confirm('Record the payment')
    await see('The server does not answer.')
    await see('2 × Mug')
    await page.keyboard.press('Escape')
    await click('Discard')
    await page.waitForSelector('dialog', { hidden: true })
    await click('Record a payment')
    await fill('Amount in USD', '5')
    await confirm('Record the payment')
    await see('A payment of')
    expect(keys).toEqual([expect.any(String), keys[0]])
  })
})
