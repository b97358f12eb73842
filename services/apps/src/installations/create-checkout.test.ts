import type { App } from '@backoffice/contracts/app.ts'
import { aCaller } from '@backoffice/testing/caller.ts'
import { expect, test } from 'vitest'
import { appsApi, operator } from '../testing/apps-api.ts'
import { partnerApp } from '../testing/partner-app.ts'

const addresses = ['8.8.8.8']
const { send, install, acknowledge } = await appsApi({ addresses })

test('a customer is sent to no name with an address that is not public (OP-238)', async () => {
  const app = await partnerApp({ checkout: { path: '/pay' } })
  const { origin, manifest, provider } = app
  await send<App>(operator, 'POST', '/internal/apps', { origin, manifest })
  const caller = aCaller()
  const { id } = (await install(caller, provider)).body
  await send(caller, 'POST', `/internal/installations/${id}/consent`, {})
  await acknowledge(id)
  app.answer(200, { sessionId: 's1', redirectUrl: 'https://pay.example/s1', amountMinor: 1000 })
  const checkOut = () => {
    const order = { orderId: crypto.randomUUID(), amountMinor: 1000, currency: 'EUR' }
    return send<{ error: { message: string } }>(caller, 'POST', '/internal/checkout', { provider, ...order })
  }
  expect((await checkOut()).status).toBe(201)
  addresses.push('10.0.0.1')
  const { status, body } = await checkOut()
  expect([status, body.error.message]).toEqual([
    503,
    `${provider} does not create a checkout now: redirectUrl of its answer: pay.example is not a public address`,
  ])
})
