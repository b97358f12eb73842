import { globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { gzipSync } from 'node:zlib'
import { eventually } from '@backoffice/testing/eventually.ts'
import { startReceiver } from '@backoffice/testing/receiver.ts'
import { describe, expect, test } from 'vitest'
import { apiWith } from '../testing/api.ts'
import { CHROMIUM } from '../testing/chromium.ts'
import { consoleBy } from '../testing/console.ts'
import { aProduct } from '../testing/products.ts'
import { sharedStack } from '../testing/stack.ts'
import { newWorkspace } from '../testing/workspaces.ts'

describe('somebody who has never seen the console', async () => {
  if (CHROMIUM === undefined) return void test.skip('Chromium is not installed here', () => undefined)
  const [stack, receiver] = await Promise.all([sharedStack(), startReceiver()])
  const { gateway, admin_token } = stack.description()
  const admin = apiWith(gateway, admin_token)

  /** A workspace with a product, and an order of it that is paid. */
  async function aShop() {
    const { id, api } = await newWorkspace(stack.description())
    await api('POST', '/v1/products', aProduct({ name: 'Enamel mug', sku: 'MUG-1', price: { USD: 1250 }, stock: 40 }))
    const { body: order } = await api<{ id: string; order_number: string }>('POST', '/v1/orders', {
      currency: 'USD',
      items: [{ sku: 'MUG-1', quantity: 2 }],
      customer: { firstname: 'Ada', lastname: 'Obi', email: 'ada@example.com' },
      status: 'PLACED',
    })
    const payment = { amount: 2500, currency: 'USD', provider: 'cash', reference: 'till-1' }
    expect((await api('POST', `/v1/orders/${order.id}/payments`, payment)).status).toBe(201)
    return { id, api, order }
  }

  test('opens the link, resends what failed, corrects an import and refunds an order', async () => {
    const { id, api, order } = await aShop()
    const { body: link } = await admin<{ url: string }>('POST', `/admin/v1/workspaces/${id}/links`, { page: 'console' })
    const { page, see, click, confirm, fill, upload, expectUsable } = await consoleBy(link.url)
    await click('Products')
    await see('Enamel mug')

    receiver.answerWith((response) => response.writeHead(500).end('out of order'))
    await click('Endpoints')
    await click('Add an endpoint')
    await fill('URL', `${receiver.url}/hooks`)
    await click('Add')
    await see('The signing secret')
    await click('Done')
    const { body: product } = await api<{ id: string }>('POST', '/v1/products', aProduct({ name: 'Tote bag' }))
    await eventually('the delivery has failed', async () => {
      const { body } = await api<{ items: unknown[] }>('GET', `/v1/deliveries?status=FAILED&resource_id=${product.id}`)
      return body.items.length === 1
    })
    await click('Deliveries')
    await click('failed')
    await see('product.created')
    await expectUsable('journey-deliveries')
    await click('product.created')
    await see('Your server failed while it handled the event.')
    await expectUsable('journey-delivery')
    receiver.answerWith((response) => response.writeHead(204).end())
    const before = receiver.requests.length
    await click('Resend')
    await eventually('the delivery arrives', () =>
      receiver.requests.slice(before).some(({ body }) => String(body).includes(product.id)),
    )
    await see('delivered')

    await click('Imports')
    await click('Import a file')
    await upload('shop.csv', 'sku,name,stock\nJUG-1,Glass jug,many\n')
    await click('Upload and check')
    await see('must be a whole number such as 12')
    await expectUsable('journey-import')
    await click('Upload the corrected file')
    await upload('corrected.csv', 'sku,name,stock\nJUG-1,Glass jug,7\n')
    await click('Upload and check')
    await click('Import 1 row')
    await see('All rows are imported')

    await click('Orders')
    await click(order.order_number)
    await click('Refund')
    await fill('Amount in USD', '12.50')
    await confirm('Record the refund')
    await see('is recorded')
    await expectUsable('journey-order')
    expect((await api<{ items: unknown[] }>('GET', `/v1/orders/${order.id}/refunds`)).body.items).toMatchObject([
      { amount: 1250 },
    ])
    expect(await page.title()).toContain(order.order_number)
  })
})

test('all files of the console have 180 KB together as gzip', () => {
  const folder = join(import.meta.dirname, '../../console/dist/assets')
  const sizes = globSync(join(folder, '*')).map((file) => gzipSync(readFileSync(file)).length)
  expect(sizes.length).toBeGreaterThan(0)
  expect(sizes.reduce((sum, size) => sum + size, 0)).toBeLessThanOrEqual(180 * 1024)
})
