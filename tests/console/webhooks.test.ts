import { eventually } from '@backoffice/testing/eventually.ts'
import { startReceiver } from '@backoffice/testing/receiver.ts'
import { describe, expect, test } from 'vitest'
import { CHROMIUM } from '../testing/chromium.ts'
import { consoleOf } from '../testing/console.ts'
import { sharedStack } from '../testing/stack.ts'
import { newWorkspace } from '../testing/workspaces.ts'

const MARKUP = '<img src=x onerror="document.title=1"><script>document.title=1</script>'
const RIGHT_TO_LEFT = 'متجر \u202Eevil'
const LONG = 'x'.repeat(10_000)

describe('webhooks in the console', async () => {
  if (CHROMIUM === undefined) return void test.skip('Chromium is not installed here', () => undefined)
  const [stack, receiver] = await Promise.all([sharedStack(), startReceiver()])
  const description = stack.description()

  test('an endpoint is made and fails; the failed delivery is found, understood and resent, and arrives', async () => {
    const { key, api } = await newWorkspace(description)
    receiver.answerWith((response) => response.writeHead(500).end(`${MARKUP}${LONG}`))
    const shown = await consoleOf(description.gateway, key, '/endpoints')
    const { page, see, click, fill, expectUsable } = shown
    await see('No endpoint yet')
    await click('Add an endpoint')
    await fill('URL', `${receiver.url}/hooks?${encodeURIComponent(MARKUP)}`)
    await fill('Description', `${MARKUP} ${RIGHT_TO_LEFT} ${LONG}`)
    await page.locator('::-p-text(Some events)').click()
    await fill('Find events', 'product')
    await page.locator('::-p-text(product.created)').click()
    await expectUsable('endpoint-new')
    await click('Add')
    await see('The signing secret')
    await expectUsable('endpoint-made')
    const secret = (await page.evaluate('document.querySelector("dialog pre").textContent')) as string
    await click('Done')
    await click('Send a ping')
    await see('A ping is sent')

    const product = { type: 'SIMPLE_PRODUCT', status: 'ACTIVE', name: MARKUP, sku: 'S', price: { USD: 100 }, stock: 1 }
    const { body: made } = await api<{ id: string }>('POST', '/v1/products', product)
    await eventually('the delivery has failed', async () => {
      const { body } = await api<{ items: unknown[] }>('GET', `/v1/deliveries?status=FAILED&resource_id=${made.id}`)
      return body.items.length === 1
    })
    await click('To the endpoint')
    await see('last attempt failed')
    await see('product.created')
    await expectUsable('endpoint-failing')

    await click('All deliveries')
    await click('failed')
    await fill('Find by id', made.id)
    await click('Find')
    await see('product.created')
    await page.waitForFunction('document.querySelectorAll("tbody tr").length === 1')
    expect(new URL(page.url()).searchParams.get('resource_id')).toBe(made.id)
    expect(await page.evaluate('document.activeElement.textContent')).toBe('Find')
    expect(new URL(page.url()).searchParams.get('status')).toBe('FAILED')
    await expectUsable('deliveries-failed')

    await click('product.created')
    await see('Your server failed while it handled the event.')
    await see('onerror')
    expect(await page.$eval('nav [aria-current=page]', ({ textContent }) => textContent)).toBe('Deliveries')
    await fill('Secret of the endpoint', secret)
    await click('Check')
    await see('The signature is right')
    await fill('Secret of the endpoint', 'whsec_AAAA')
    await click('Check')
    await see('Another secret made this signature')
    await click('What the endpoint answered')
    await expectUsable('delivery-failed')

    receiver.answerWith((response) => response.writeHead(204).end())
    const before = receiver.requests.length
    await page.goBack()
    await page.locator('tbody input[type=checkbox]').click()
    await click('Resend 1 chosen')
    await see('1 delivery is sent again.')
    await eventually('the delivery arrives', () =>
      receiver.requests.slice(before).some(({ body }) => String(body).includes(made.id)),
    )

    await page.locator('::-p-xpath(//button[@aria-pressed="true"])').click()
    await see('delivered')
    await click('Resend all found…')
    await see('That includes those that arrived')
    await click('Send again')
    await see('1 delivery is sent again.')
    await click('Close')
    expect(await page.title()).toContain('Deliveries')

    await shown.open('/deliveries')
    await see('webhook.ping')
    await page.locator('tbody input[type=checkbox]').click()
    const rows = () => page.evaluate('[...document.querySelectorAll("tbody a")].map(({ href }) => href)')
    const read = await rows()
    expect((await api('POST', '/v1/products', { ...product, sku: 'S2' })).status).toBe(201)
    await see('Show 1 new delivery')
    expect(await rows(), 'rows that are chosen stay in place').toEqual(read)
    await click('Show 1 new delivery')
    await page.waitForFunction(`document.querySelectorAll("tbody tr").length === 3`)
  })

  test('chosen deliveries of two endpoints: those of the one that cannot be resent stay chosen', async () => {
    const { key, api } = await newWorkspace(description)
    for (const path of ['one', 'other']) {
      const endpoint = { url: `${receiver.url}/${path}`, enabled_events: ['product.created'] }
      const { body } = await api<{ id: string }>('POST', '/v1/webhooks', endpoint)
      await api('POST', `/v1/webhooks/${body.id}/ping`)
    }
    const { page, see, click } = await consoleOf(description.gateway, key, '/deliveries')
    await page.waitForFunction('document.querySelectorAll("tbody tr").length === 2')
    await page.setRequestInterception(true)
    let resends = 0
    page.on('request', (request) => {
      if (request.url().endsWith('/v1/deliveries/resend')) resends++
      return resends > 1 ? request.respond({ status: 503, body: '{}' }) : request.continue()
    })
    for (const box of await page.$$('tbody input[type=checkbox]')) await box.click()
    await click('Resend 2 chosen')
    await see('Resend 1 chosen')
    const isChosen = '[...document.querySelectorAll("tbody tr")].map((row) => row.querySelector("input").checked)'
    expect(await page.evaluate(isChosen)).toEqual([false, true])
  })
})
