import { type CheckoutRequest, CheckoutSession } from '@backoffice/contracts/app.ts'
import { ApiError } from '@backoffice/contracts/errors.ts'
import { InternalCalls } from '@backoffice/http/internal-calls.ts'
import type { RequestContext } from '@backoffice/http/internal-token.ts'
import type { TokenSigner } from '@backoffice/http/token-signer.ts'
import type { Component } from '@backoffice/runtime/component.ts'
import { FairSlots } from '@backoffice/runtime/fair-slots.ts'
import type { z } from 'zod'

/** The apps of workspaces, as orders asks them for a checkout. */
export interface CheckoutApps {
  /**
   * Asks the workspace's app for a checkout (OP-85). Throws the refusal of the app, or of apps, as
   * `unprocessable`, and `service_unavailable` when there is no answer in time.
   */
  createCheckout(context: RequestContext, provider: string, order: CheckoutOrder): Promise<CheckoutSession>
}

type CheckoutOrder = z.output<typeof CheckoutRequest>

/** An app may take 10 s (OP-85), so a slow one must not take the slots of other workspaces. */
const LIMITS = {
  answerMs: 12_000,
  slots: { slots: 64, share: 8, most: 8, waiting: 32, waitMs: 2_000 },
}

/** Opens connections to the service apps. */
export function checkoutApps(url: string, signer: TokenSigner): CheckoutApps & Component {
  const { answerMs } = LIMITS
  const calls = new InternalCalls('apps', url, signer, { connections: LIMITS.slots.slots, answerMs })
  const slots = new FairSlots(LIMITS.slots, tooManyCheckouts)
  return {
    name: calls.name,
    createCheckout: (caller, provider, order) =>
      slots.run(caller.workspaceId, () =>
        calls.send({
          caller,
          method: 'POST',
          path: '/internal/checkout',
          body: { provider, ...order },
          answer: CheckoutSession,
          requestId: caller.requestId,
          traceparent: caller.traceparent,
        }),
      ),
    stop: () => calls.stop(),
  }
}

const tooManyCheckouts = () =>
  new ApiError('service_unavailable', 'This workspace has too many checkouts under way; try again', {
    headers: { 'retry-after': '1' },
  })
