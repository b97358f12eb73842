import { randomUUID } from 'node:crypto'
import { CheckoutSession } from '@backoffice/contracts/app.ts'
import { targetUrl } from '@backoffice/outbound/target-url.ts'
import { parsedJson } from '@backoffice/runtime/parsed-json.ts'
import { z } from 'zod'
import { type Answer, ask, type RequestHeaders } from './ask.ts'
import { type Examined, expectNothing, expectSuccess, type Finding, isRefusal, isSuccess, skipped } from './finding.ts'
import { checkForgedTokens } from './forged-tokens.ts'

/** Create-checkout (OP-85), for an order that the doctor invents. */
export async function checkCheckout(app: Examined): Promise<Finding[]> {
  if (!app.manifest.checkout) return []
  const url = new URL(app.manifest.checkout.path, app.origin)
  const body = JSON.stringify({ orderId: randomUUID(), amountMinor: 4500, currency: 'EUR' })
  const createCheckout = (headers: RequestHeaders) => ask(url, body, headers)
  return [
    ...(await checkForgedTokens(app, 'checkout', 'session', createCheckout)),
    sessionFinding(await createCheckout(await app.tokenHeaders('session'))),
  ]
}

/** As the platform takes it; an app that is tried on loopback may stay there (OP-238). */
const Session = z.object({ ...CheckoutSession.shape, redirectUrl: targetUrl({ allowLoopback: true }) })

/** An app may refuse an order that it cannot find at the platform: that is no fault of it. */
function sessionFinding(answer: Answer): Finding {
  const expectation = 'checkout answers {sessionId, redirectUrl, amountMinor}'
  if (isRefusal(answer) && ![401, 403].includes(answer.status)) {
    return skipped(expectation, `the app refuses the order that the doctor invents: ${answer.text}`)
  }
  if (!isSuccess(answer)) return expectSuccess(expectation, answer)
  const { error } = Session.safeParse(parsedJson(answer.body))
  return expectNothing(
    expectation,
    error?.issues.map(({ path, message }) => `${path.join('.')}: ${message}`).join('; '),
  )
}
