import { CheckoutRequest, CheckoutSession } from '@backoffice/contracts/app.ts'
import { Provider } from '@backoffice/contracts/app-manifest.ts'
import { ApiError, unprocessable } from '@backoffice/contracts/errors.ts'
import { Name } from '@backoffice/contracts/fields.ts'
import { issueMessage } from '@backoffice/contracts/issue-messages.ts'
import { isStorable } from '@backoffice/contracts/storable.ts'
import { operation } from '@backoffice/http/operation.ts'
import { created } from '@backoffice/http/reply.ts'
import { isForbiddenTarget, notPublic, type Resolve } from '@backoffice/outbound/forbidden-target.ts'
import type { Captured, Exchange } from '@backoffice/outbound/post.ts'
import type { TargetPolicy } from '@backoffice/outbound/target-address.ts'
import { targetUrl } from '@backoffice/outbound/target-url.ts'
import type { Transaction } from '@backoffice/postgres/database.ts'
import { z } from 'zod'
import { findInstallations } from '../apps/installation-rows.ts'
import { callApp, KEPT_BYTES } from '../calls/call-app.ts'
import type { Calling } from '../calls/calling.ts'

interface CheckingOut extends Pick<Calling, 'db' | 'tokens' | 'app'> {
  readonly policy: TargetPolicy
  readonly resolve: Resolve
}

/** The longest time for the app's answer, in milliseconds: orders waits a little longer. */
const ANSWER_MS = 10_000

/**
 * POST /internal/checkout, for POST /v1/orders/{id}/checkout: asks the app for a checkout of a placed order (OP-85).
 * Refusals of the app are `unprocessable` with its message. An app that fails, is silent for too long or answers
 * something else is `service_unavailable`.
 */
export const createCheckout = ({ db, tokens, app, policy, resolve }: CheckingOut) => {
  const AppAnswer = appAnswer(policy)
  return operation({
    method: 'POST',
    path: '/internal/checkout',
    scope: 'internal',
    body: z.strictObject({ provider: Provider, ...CheckoutRequest.shape }),
    responses: { 201: CheckoutSession },

    async handle({ body: { provider, ...order }, context, idempotencyKey, now }) {
      const find = () => db.inWorkspace(context, (tx) => findCheckoutApp(tx, provider))
      const { installation, path } = await find()
      const { token } = await tokens.session(installation, now)
      const exchange = await callApp({ ...app, answerMs: Math.min(app.answerMs, ANSWER_MS) }, installation, {
        call: 'checkout',
        path,
        requestId: context.requestId,
        idempotencyKey: idempotencyKey ?? context.requestId,
        token,
        body: order,
      })
      const session = sessionIn(exchange, AppAnswer, provider)
      const url = new URL(session.redirectUrl)
      if (await isForbiddenTarget(url, policy, resolve)) {
        throw unavailable(provider, `redirectUrl of its answer: ${notPublic(url)}`)
      }
      // An app that is uninstalled or suspended meanwhile could not record a payment.
      await find()
      return created(session)
    },
  })
}

/** The installed app, with the path of its create-checkout endpoint. Throws `unprocessable` when there is none. */
async function findCheckoutApp(tx: Transaction, provider: string) {
  const [installation] = await findInstallations(tx, tx`installation.state = 'ACTIVE' and app.provider = ${provider}`)
  const path = installation?.app_manifest.checkout?.path
  if (installation === undefined || path === undefined) {
    throw unprocessable(['provider'], `this workspace has no installed app ${provider} with a checkout`)
  }
  if (installation.app_suspended_at !== null) throw unprocessable(['provider'], `${provider} is suspended`)
  return { installation, path }
}

/** The app sends it as the `reference` of the payment, so it has the form of one. */
const SessionId = Name.refine(isStorable, 'must have no NUL characters and no unpaired surrogates')

/**
 * What an app answers; other members are dropped. The platform sends the customer's browser to `redirectUrl`, so it has
 * the form of every address that outsiders choose (OP-238).
 */
const appAnswer = (policy: TargetPolicy) =>
  z.object({ ...CheckoutSession.shape, sessionId: SessionId, redirectUrl: targetUrl(policy) })

const TOO_LONG = `its answer has more than ${KEPT_BYTES / 1024} KiB`

/** The session in an app's answer. Throws the refusal that the answer means. */
function sessionIn(
  { response, failure }: Exchange,
  AppAnswer: ReturnType<typeof appAnswer>,
  provider: string,
): CheckoutSession {
  if (failure !== null) {
    if (response !== null && response.status >= 400 && response.status < 500) {
      throw unprocessable(['provider'], `${provider} refuses the checkout: ${refusalIn(response)}`)
    }
    throw unavailable(provider, failure.message)
  }
  if (response.isTruncated) throw unavailable(provider, TOO_LONG)
  const body = jsonOf(response.body)
  if (body === undefined) throw unavailable(provider, 'its answer is no JSON')
  const read = AppAnswer.safeParse(body, { error: issueMessage })
  if (!read.success) throw unavailable(provider, wrongMembers(read.error))
  return read.data
}

const wrongMembers = ({ issues }: z.ZodError): string =>
  issues.map(({ path, message }) => `${path.join('.') || 'the body'} of its answer: ${message}`).join('; ')

const unavailable = (provider: string, reason: string) =>
  new ApiError('service_unavailable', `${provider} does not create a checkout now: ${reason}`)

const MESSAGE_LENGTH = 500
const Refusal = z.union([
  z.object({ error: z.object({ message: z.string() }) }).transform(({ error }) => error.message),
  z.object({ message: z.string() }).transform(({ message }) => message),
  z.object({ error: z.string() }).transform(({ error }) => error),
])

/** The message of an app's refusal in one line, at most 500 characters. */
function refusalIn({ body, isTruncated }: Captured): string {
  if (isTruncated) return TOO_LONG
  const { data = '' } = Refusal.safeParse(jsonOf(body))
  const message = data.replaceAll(/[\s\p{Cc}]+/gu, ' ').trim()
  return message.slice(0, MESSAGE_LENGTH).toWellFormed() || 'it gives no reason'
}

function jsonOf(body: Buffer): unknown {
  try {
    return JSON.parse(new TextDecoder().decode(body))
  } catch {
    return undefined
  }
}
