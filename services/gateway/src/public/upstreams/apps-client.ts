import { PLATFORM, type Who } from '@backoffice/contracts/app.ts'
import { InternalCalls, type InternalRequest } from '@backoffice/http/internal-calls.ts'
import type { TokenSigner } from '@backoffice/http/token-signer.ts'
import type { z } from 'zod'

const WHOLE_PLATFORM = { id: PLATFORM, livemode: true }

export interface AppsRequest<Answer> extends Omit<InternalRequest, 'caller'> {
  readonly who: Who
  /** The operator's name, or `merchant`: the audit log has it. */
  readonly actor: string
  /** The workspace it concerns; the whole platform unless given. */
  readonly workspace?: typeof WHOLE_PLATFORM
  readonly requestId: string
  readonly traceparent: string
  readonly answer: z.ZodType<Answer> | null
}

/** The service apps, as the admin API and the pages ask it. */
export class AppsClient extends InternalCalls {
  override readonly name = 'apps client'

  constructor(url: string, signer: TokenSigner) {
    super('apps', url, signer)
  }

  /** Sends a request to an internal operation. Throws the refusal of apps, or `service_unavailable`. */
  ask<Answer>(asked: AppsRequest<Answer>): Promise<Answer> {
    const { who, actor, workspace = WHOLE_PLATFORM, requestId, traceparent, ...request } = asked
    const { id: workspaceId, livemode } = workspace
    const caller = { workspaceId, livemode, keyId: actor, who, productStatuses: [], requestId, traceparent }
    return this.send({ ...request, caller })
  }
}
