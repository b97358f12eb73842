import { randomUUID } from 'node:crypto'
import { CheckoutSession } from '@backoffice/contracts/app.ts'
import { type Answer, ask } from './ask.ts'
import { type Examined, expectNothing, expectRefusal, expectSuccess, type Finding, skipped } from './finding.ts'
import { forgedTokens, sessionClaims, signedToken } from './sign.ts'

/** Create-checkout (OP-85), for an order that the doctor invents. */
export async function checkCheckout({ origin, manifest, installation, key }: Examined): Promise<Finding[]> {
  if (!manifest.checkout) return []
  const url = new URL(manifest.checkout.path, origin)
  const body = JSON.stringify({ orderId: randomUUID(), amountMinor: 4500, currency: 'EUR' })
  const post = (authorization: string | undefined) =>
    ask({ method: 'POST', url, headers: authorization === undefined ? {} : { authorization }, body })

  const findings: Finding[] = []
  for (const [what, authorization] of forgedTokens(sessionClaims(installation), key.privateKey, 'provision')) {
    findings.push(expectRefusal(`checkout refuses ${what}`, await post(authorization)))
  }
  findings.push(sessionFinding(await post(`Bearer ${signedToken(sessionClaims(installation), key.privateKey)}`)))
  return findings
}

/** An app may refuse an order that it cannot find at the platform: that is no fault of it. */
function sessionFinding(answer: Answer): Finding {
  const expectation = 'checkout answers {sessionId, redirectUrl, amountMinor}'
  if (answer.status >= 400 && answer.status < 500 && ![401, 403].includes(answer.status)) {
    return skipped(expectation, `the app refuses the order that the doctor invents: ${answer.text}`)
  }
  if (answer.status < 200 || answer.status >= 300) return expectSuccess(expectation, answer)
  const { error } = CheckoutSession.safeParse(jsonIn(answer.body))
  return expectNothing(
    expectation,
    error?.issues.map(({ path, message }) => `${path.join('.')}: ${message}`).join('; '),
  )
}

function jsonIn(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}
