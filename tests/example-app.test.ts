import { spawn } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { fileURLToPath } from 'node:url'
import { encryptedKeyStore, recordsInMemory } from '@backoffice/app-sdk'
import type { CheckoutSession, Installation } from '@backoffice/contracts/app.ts'
import type { Order } from '@backoffice/contracts/order.ts'
import type { Product } from '@backoffice/contracts/product.ts'
import { eventually } from '@backoffice/testing/eventually.ts'
import { freePort } from '@backoffice/testing/processes/ports.ts'
import { afterAll, expect, it } from 'vitest'
import { apiWith } from './testing/api.ts'
import { aProduct } from './testing/products.ts'
import { sharedStack } from './testing/stack.ts'
import { newWorkspace } from './testing/workspaces.ts'

const stack = await sharedStack()
const { gateway, admin_token } = stack.description()
const admin = apiWith(gateway, admin_token)
const manifest = {
  ...JSON.parse(readFileSync(new URL('../examples/app/payments.app.json', import.meta.url), 'utf8')),
  // Another one than its own, as that of a draft.
  provider: 'example-pay-2',
}

const folder = mkdtempSync(join(tmpdir(), 'example-app-'))
const encryptionKey = randomBytes(32).toString('base64')
const database = join(folder, 'payments.db')
const port = await freePort()
const origin = `http://127.0.0.1:${port}`
let log = ''
async function startApp() {
  const child = spawn(process.execPath, [fileURLToPath(new URL('../examples/app/src/main.ts', import.meta.url))], {
    env: {
      PATH: process.env.PATH,
      PLATFORM_URL: gateway,
      APP_ENCRYPTION_KEY: encryptionKey,
      PROVIDER: manifest.provider,
      PORT: String(port),
      DATABASE: database,
    },
  })
  let printed = ''
  for (const stream of [child.stdout, child.stderr]) {
    stream.on('data', (chunk) => {
      log += chunk
      printed += chunk
    })
  }
  await eventually('the example app listens', () => printed.includes('Server listening'))
  return child
}
let child = await startApp()
afterAll(() => {
  child.kill('SIGKILL')
  rmSync(folder, { recursive: true })
})

const workspace = await newWorkspace(stack.description())

/** A session token, as the page around the embed gets one for the merchant. */
const sessionToken = async (installation: string) =>
  (await admin<{ token: string }>('POST', `/admin/v1/installations/${installation}/session`, {})).body.token
const embedData = async (token: string) => {
  const response = await fetch(`${origin}/embed/payments`, { headers: { authorization: `Bearer ${token}` } })
  return { status: response.status, body: (await response.json()) as { payments: unknown[] } }
}
const rowsOf = (query: string, ...values: string[]) => {
  const connection = new DatabaseSync(database, { readOnly: true })
  const rows = connection.prepare(query).all(...values)
  connection.close()
  return rows
}
/** The key that the app keeps, which is nowhere else. */
async function deliveredKey(): Promise<string> {
  const records = recordsInMemory()
  for (const { sealed } of rowsOf('select sealed from credentials where workspace_id = ?', workspace.id)) {
    await records.set(workspace.id, String(sealed))
  }
  return (await encryptedKeyStore(records, encryptionKey).get(workspace.id))?.apiKey ?? ''
}
const installationNow = async (id: string) => (await admin<Installation>('GET', `/admin/v1/installations/${id}`)).body
const appKeys = async () => {
  const path = `/admin/v1/workspaces/${workspace.id}/keys`
  type Keys = { items: { kind: string; scopes: string[]; revoked_at: string | null; last_used_at: string | null }[] }
  return (await admin<Keys>('GET', path)).body.items.filter(({ kind }) => kind === 'app')
}

const registered = await admin('POST', '/admin/v1/apps', { origin, manifest })

/** Installs the app in a workspace. */
async function install(workspaceId: string) {
  const request = { provider: manifest.provider }
  const asked = await admin<Installation>('POST', `/admin/v1/workspaces/${workspaceId}/installations`, request)
  const { id } = asked.body
  await admin('POST', `/admin/v1/installations/${id}/consent`, {})
  await eventually('it is ACTIVE', async () => (await installationNow(id)).state === 'ACTIVE')
  return asked
}

it('the example app takes the money of an order once: at another amount, in two tabs, and after a crash', async () => {
  const shop = await newWorkspace(stack.description())
  const { body: installation } = await install(shop.id)
  const product = (await shop.api<Product>('POST', '/v1/products', aProduct())).body
  const form = { currency: 'NGN', items: [{ variant: product.variants[0]?.id, quantity: 2 }] }
  const order = (await shop.api<Order>('POST', '/v1/orders', form)).body
  const checkOut = async () =>
    (await shop.api<CheckoutSession>('POST', `/v1/orders/${order.id}/checkout`, { provider: manifest.provider })).body
  const pay = async ({ redirectUrl }: CheckoutSession) =>
    (await fetch(redirectUrl, { method: 'POST', body: new URLSearchParams() })).text()
  type Payments = { items: { amount: number; provider: string }[] }
  const payments = async () => (await shop.api<Payments>('GET', `/v1/orders/${order.id}/payments`)).body.items
  const paid = async () => (await payments()).reduce((sum, { amount }) => sum + amount, 0)
  const takenOf = () => rowsOf('select amount_minor from charge where workspace_id = ?', shop.id)

  const former = await checkOut()
  const cash = { amount: 100_000, currency: 'NGN', provider: 'cash', reference: 'cash-1' }
  expect((await shop.api('POST', `/v1/orders/${order.id}/payments`, cash)).status).toBe(201)
  const pageOf = async ({ redirectUrl }: CheckoutSession) => (await fetch(redirectUrl)).text()
  await eventually('the former page is closed', async () => (await pageOf(former)).includes('out of date'))
  const checkout = await checkOut()
  expect([former.amountMinor, checkout.amountMinor]).toEqual([900_000, 800_000])
  expect(await pay(former)).toContain('out of date')
  expect([await paid(), takenOf()]).toEqual([100_000, []])

  const pages = await Promise.all(Array.from({ length: 5 }, () => pay(checkout)))
  for (const page of pages) expect(page).toContain('Paid. Thank you.')
  expect([await paid(), takenOf()]).toEqual([900_000, [{ amount_minor: 800_000 }]])

  // As a crash leaves it after the customer has paid and before provider and platform have answered.
  child.kill('SIGKILL')
  await once(child, 'exit')
  const connection = new DatabaseSync(database)
  connection.prepare("update checkout set state = 'CHARGING' where id = ?").run(checkout.sessionId)
  connection.close()
  child = await startApp()
  const state = () => rowsOf('select state from checkout where id = ?', checkout.sessionId)[0]?.state
  await eventually('the payment is recorded', () => state() === 'PAID')
  expect([await paid(), takenOf()]).toEqual([900_000, [{ amount_minor: 800_000 }]])
  expect((await payments()).map(({ provider }) => provider).sort()).toEqual(['cash', manifest.provider])
  const shown = (await embedData(await sessionToken(installation.id))).body.payments
  expect(shown).toEqual([{ order: order.id, amountMinor: 800_000, currency: 'NGN', isPaid: true }])
})

type Shop = Awaited<ReturnType<typeof newWorkspace>>
const PAYMENT = { amount: 450_000, currency: 'NGN', provider: 'cash', reference: 'cash-1' }

it.each<[string, (shop: Shop, order: string) => Promise<{ status: number }>]>([
  ['paid in another way', (shop, order) => shop.api('POST', `/v1/orders/${order}/payments`, PAYMENT)],
  ['cancelled', (shop, order) => shop.api('PUT', `/v1/orders/${order}`, { status: 'CANCELLED' })],
])('an order that was %s is not paid on a page that is still open', async (_, end) => {
  const shop = await newWorkspace(stack.description())
  await install(shop.id)
  const product = (await shop.api<Product>('POST', '/v1/products', aProduct())).body
  const form = { currency: 'NGN', items: [{ variant: product.variants[0]?.id, quantity: 1 }] }
  const order = (await shop.api<Order>('POST', '/v1/orders', form)).body
  const request = { provider: manifest.provider }
  const { body } = await shop.api<CheckoutSession>('POST', `/v1/orders/${order.id}/checkout`, request)
  expect((await end(shop, order.id)).status).toBeLessThan(300)
  await eventually('the page is closed', async () =>
    (await (await fetch(body.redirectUrl)).text()).includes('out of date'),
  )
  await fetch(body.redirectUrl, { method: 'POST', body: new URLSearchParams() })
  expect(rowsOf('select * from charge where workspace_id = ?', shop.id)).toEqual([])
})

it('the example app is installed, takes a payment, hears of it, and is uninstalled with everything purged', async () => {
  expect(registered.status).toBe(201)
  const request = { provider: manifest.provider }
  const asked = await install(workspace.id)
  expect([asked.status, asked.body.requested_scopes]).toEqual([201, ['sale::create']])
  const { id } = asked.body
  expect(await appKeys()).toMatchObject([{ scopes: ['sale::create'], revoked_at: null }])

  // The embed is a page without data; its data come with a session token, for the token's workspace.
  const page = await fetch(`${origin}${manifest.embed}`)
  expect([page.status, page.headers.get('content-security-policy')]).toEqual([
    200,
    `default-src 'self'; frame-ancestors ${gateway}`,
  ])
  expect((await embedData('none')).status).toBe(401)
  expect(await embedData(await sessionToken(id))).toEqual({ status: 200, body: { workspace: 'Test', payments: [] } })

  const product = (await workspace.api<Product>('POST', '/v1/products', aProduct())).body
  const form = { currency: 'NGN', items: [{ variant: product.variants[0]?.id, quantity: 2 }] }
  const order = (await workspace.api<Order>('POST', '/v1/orders', form)).body
  const checkOut = () => workspace.api<CheckoutSession>('POST', `/v1/orders/${order.id}/checkout`, request)
  const checkout = await checkOut()
  expect([checkout.status, checkout.body]).toEqual([
    201,
    { sessionId: expect.any(String), redirectUrl: `${origin}/pay/${checkout.body.sessionId}`, amountMinor: 900_000 },
  ])
  expect((await checkOut()).body).toEqual(checkout.body)
  expect(await (await fetch(checkout.body.redirectUrl)).text()).toContain('900000 NGN')
  const paid = await fetch(checkout.body.redirectUrl, { method: 'POST', body: new URLSearchParams() })
  expect(await paid.text()).toContain('Paid. Thank you.')
  const after = (await workspace.api<Order>('GET', `/v1/orders/${order.id}`)).body
  expect(after).toMatchObject({ status: 'PLACED', payment_status: 'PAID' })
  expect((await embedData(await sessionToken(id))).body.payments).toMatchObject([{ order: order.id, isPaid: true }])

  const eventsOf = 'select type from event where workspace_id = ? order by type'
  await eventually('the webhooks', () => rowsOf(eventsOf, workspace.id).length === 4)
  // Placed by the checkout, and paid.
  const received = ['invoice.paid', 'order.paid', 'order.updated', 'order.updated']
  expect(rowsOf(eventsOf, workspace.id).map(({ type }) => type)).toEqual(received)

  const stored = readFileSync(database).toString('latin1') + readFileSync(`${database}-wal`).toString('latin1')
  for (const text of [log, stored]) expect(text).not.toMatch(/sk_live_|whsec_/)

  const pay = apiWith(gateway, await deliveredKey())
  const again = { amount: 1, currency: 'NGN', provider: manifest.provider, reference: 'again' }
  const payAgain = async () => (await pay('POST', `/v1/orders/${order.id}/payments`, again)).status
  expect([await payAgain(), (await pay('GET', '/v1/orders')).body.error.code]).toEqual([201, 'insufficient_scope'])

  expect((await admin('DELETE', `/admin/v1/installations/${id}`)).status).toBe(202)
  const held = () =>
    ['credentials', 'former_credentials', 'checkout', 'charge', 'event', 'latest_order'].flatMap((table) =>
      rowsOf(`select * from ${table} where workspace_id = ?`, workspace.id),
    )
  await eventually('everything is purged', () => held().length === 0)
  expect((await installationNow(id)).state).toBe('UNINSTALLED')
  expect(await appKeys()).toMatchObject([{ revoked_at: expect.any(String) }])
  await eventually('the key is refused', async () => (await payAgain()) === 401)
  const endpoints = (await workspace.api<{ total: number }>('GET', '/v1/webhooks')).body
  expect(endpoints.total).toBe(0)
  expect((await checkOut()).status).toBeGreaterThanOrEqual(400)
})
