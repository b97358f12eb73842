import { PLATFORM } from '@backoffice/contracts/app.ts'
import { ApiError } from '@backoffice/contracts/errors.ts'
import { TakenPage, type TakenPlace } from '@backoffice/contracts/taken-stock.ts'
import { InternalCalls } from '@backoffice/http/internal-calls.ts'
import type { CallingFor, TokenSigner } from '@backoffice/http/token-signer.ts'
import { retry } from '@backoffice/runtime/retry.ts'

const CALLER: CallingFor = {
  ...{ workspaceId: PLATFORM, livemode: true, keyId: 'check-orders', who: 'system', productStatuses: [] },
}

/** Longer than catalog's statement may take. */
const ANSWER_MS = 35_000
const [ATTEMPTS, PAUSE_MS] = [4, 500]

/** Reads what catalog has taken, of all workspaces, page by page. Calls of requests have connections of their own. */
export function takenStock(url: string, signer: TokenSigner) {
  const calls = new InternalCalls('catalog', url, signer, { connections: 1, answerMs: ANSWER_MS })
  return {
    name: 'calls to catalog for checks',
    stop: () => calls.stop(),
    /** The page after a place. */
    read: (after: TakenPlace): Promise<TakenPage> => {
      const request = { caller: CALLER, method: 'GET', path: '/internal/stock/taken', query: after } as const
      const send = () => calls.send({ ...request, answer: TakenPage })
      return retry(send, pauseAfter).catch((cause: unknown) => {
        if (!isRefusal(cause, 'not_found')) throw cause
        throw new Error('catalog runs a version that does not answer this yet', { cause })
      })
    },
  }
}

/** Catalog starts again while it is deployed; a run has thousands of pages. */
const pauseAfter = (error: unknown, failures: number) =>
  isRefusal(error, 'service_unavailable') && failures < ATTEMPTS ? failures * PAUSE_MS : undefined

const isRefusal = (error: unknown, code: ApiError['code']) => error instanceof ApiError && error.code === code

export type ReadTaken = ReturnType<typeof takenStock>['read']
