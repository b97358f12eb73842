import { PLATFORM, type Who } from '@backoffice/contracts/app.ts'
import { slotRefusals } from '@backoffice/contracts/slot-refusals.ts'
import { type CallShares, InternalCalls, type InternalRequest } from '@backoffice/http/internal-calls.ts'
import type { TokenSigner } from '@backoffice/http/token-signer.ts'
import type { z } from 'zod'

const WHOLE_PLATFORM = { id: PLATFORM, livemode: true }
/** A call is over before the admin API answers by itself. */
const SHARES: CallShares = {
  slots: { slots: 32, share: 8, most: 16, waiting: 256, waitMs: 2_000 },
  deadlineMs: 7_000,
  refuse: slotRefusals({
    owner: 'Too many requests about apps are under way for you; send fewer at once',
    all: 'apps has too many requests to answer',
  }),
}

export interface AppsRequest<Answer> extends Omit<InternalRequest, 'caller' | 'owner'> {
  readonly who: Who
  /** The operator's name, or `merchant`: the audit log has it. */
  readonly actor: string
  /** The workspace it concerns; the whole platform unless given. */
  readonly workspace?: typeof WHOLE_PLATFORM
  readonly requestId: string
  readonly traceparent: string
  readonly answer: z.ZodType<Answer> | null
}

/**
 * The service apps, as the admin API and the pages ask it. Merchants share the calls under way by their workspaces, and
 * each operator has a share: apps that hang hold up whoever asks for most.
 */
export class AppsClient extends InternalCalls {
  override readonly name = 'apps client'

  constructor(url: string, signer: TokenSigner) {
    super('apps', url, signer, SHARES)
  }

  /**
   * Sends a request to an internal operation. Throws the refusal of apps, or `service_unavailable`; `rate_limited` when
   * its merchant or operator has too many under way.
   */
  ask<Answer>(asked: AppsRequest<Answer>): Promise<Answer> {
    const { who, actor, workspace = WHOLE_PLATFORM, requestId, traceparent, ...request } = asked
    const { id: workspaceId, livemode } = workspace
    const caller = { workspaceId, livemode, keyId: actor, who, productStatuses: [], requestId, traceparent }
    const owner = who === 'merchant' ? workspaceId : `${who} ${actor}`
    return this.send({ ...request, caller, owner })
  }
}
