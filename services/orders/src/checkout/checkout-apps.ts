import { hash } from 'node:crypto'
import { type CheckoutRequest, CheckoutSession } from '@backoffice/contracts/app.ts'
import { ApiError } from '@backoffice/contracts/errors.ts'
import { type CallShares, InternalCalls } from '@backoffice/http/internal-calls.ts'
import type { RequestContext } from '@backoffice/http/internal-token.ts'
import type { TokenSigner } from '@backoffice/http/token-signer.ts'
import type { SlotRefusal } from '@backoffice/runtime/fair-slots.ts'
import type { z } from 'zod'
import { tooManyUnderWay } from '../catalog/too-many-under-way.ts'

/** A slow app must not take the slots of other workspaces. */
const SHARES: CallShares = {
  slots: { slots: 64, share: 8, most: 8, waiting: 32, waitMs: 2_000 },
  // The wait for a slot, the look-ups of apps, and the app itself: it may take 10 s (`APP_ANSWER_TIMEOUT`, OP-85).
  // Beside two calls of catalog, less than the 20 s of the gateway.
  deadlineMs: 13_500,
  refuse: (why: SlotRefusal) => new ApiError('service_unavailable', tooManyUnderWay('checkouts', why)),
}

/** The apps of workspaces, as orders asks them for a checkout: opens connections to the service apps. */
export function checkoutApps(url: string, signer: TokenSigner) {
  const calls = new InternalCalls('apps', url, signer, SHARES)
  return {
    name: calls.name,
    /**
     * Asks the workspace's app for a checkout (OP-85). Throws the refusal of the app, or of apps, as
     * `unprocessable`, and `service_unavailable` when there is no answer in time. The app gets one key for all
     * repetitions of a client's request with an `Idempotency-Key`.
     */
    createCheckout: (
      caller: RequestContext,
      provider: string,
      order: z.output<typeof CheckoutRequest>,
      idempotencyKey?: string,
    ) =>
      calls.send({
        caller,
        method: 'POST',
        path: '/internal/checkout',
        body: { provider, ...order },
        idempotencyKey: idempotencyKey && keyForApp(order, idempotencyKey),
        answer: CheckoutSession,
      }),
    stop: () => calls.stop(),
  }
}
export type CheckoutApps = ReturnType<typeof checkoutApps>

/** Keys of clients are unique in a workspace, and an app has many. */
const keyForApp = (order: z.output<typeof CheckoutRequest>, key: string): string =>
  hash('sha256', JSON.stringify([order, key]))
