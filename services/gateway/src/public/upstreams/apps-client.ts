import { PLATFORM } from '@backoffice/contracts/app.ts'
import { InternalCalls } from '@backoffice/http/internal-calls.ts'
import type { TokenSigner } from '@backoffice/http/token-signer.ts'
import type { Component } from '@backoffice/runtime/component.ts'
import type { z } from 'zod'

const WHOLE_PLATFORM = { id: PLATFORM, livemode: true }

export interface AppsRequest {
  /** The operator's name, or `merchant`: the audit log has it. */
  readonly actor: string
  /** The workspace it concerns; the whole platform unless given. */
  readonly workspace?: { readonly id: string; readonly livemode: boolean }
  readonly requestId: string
  readonly traceparent: string
}

/** The service apps, as the admin API and the pages ask it. */
export class AppsClient implements Component {
  readonly name = 'apps client'
  readonly #calls: InternalCalls

  constructor(url: string, signer: TokenSigner) {
    this.#calls = new InternalCalls('apps', url, signer)
  }

  /** Sends a request to an internal operation. Throws the refusal of apps, or `service_unavailable`. */
  send<Answer = undefined>(
    { actor, workspace = WHOLE_PLATFORM, requestId, traceparent }: AppsRequest,
    method: 'GET' | 'POST' | 'PUT' | 'DELETE',
    path: `/internal/${string}`,
    answer: z.ZodType<Answer> | null,
    body?: unknown,
  ): Promise<Answer> {
    const caller = { workspaceId: workspace.id, livemode: workspace.livemode, keyId: actor, productStatuses: [] }
    return this.#calls.send({ caller, method, path, answer, requestId, traceparent, body })
  }

  stop(): Promise<void> {
    return this.#calls.stop()
  }
}
