import { PLATFORM } from '@backoffice/contracts/app-records.ts'
import { internalCalls } from '@backoffice/http/internal-calls.ts'
import { tokenSigner } from '@backoffice/http/internal-token.ts'
import type { Component } from '@backoffice/runtime/process.ts'
import type { z } from 'zod'

/** No workspace in particular. */
const WHOLE_PLATFORM = { id: PLATFORM, livemode: true }

/** In whose name apps is asked. */
export interface AppsRequest {
  /** The operator's name, or `merchant`: the audit log has it. */
  readonly actor: string
  /** The workspace it concerns; the whole platform unless given. */
  readonly workspace?: { readonly id: string; readonly livemode: boolean }
  readonly requestId: string
  readonly traceparent: string
}

/** The service apps, as the admin API and the pages ask it. */
export interface AppsClient extends Component {
  /** Sends a request to an internal operation. Throws the refusal of apps, or `service_unavailable`. */
  send<Answer = undefined>(
    request: AppsRequest,
    method: 'GET' | 'POST' | 'PUT' | 'DELETE',
    path: `/internal/${string}`,
    answer: z.ZodType<Answer> | null,
    body?: unknown,
  ): Promise<Answer>
}

/** Opens connections to apps; `privateKey` signs the tokens of the calls (base64 DER PKCS8). */
export function appsClient(url: string, privateKey: string): AppsClient {
  const sign = tokenSigner(privateKey)
  const calls = internalCalls('apps', url)
  return {
    name: 'apps client',
    async send({ actor, workspace = WHOLE_PLATFORM, requestId, traceparent }, method, path, answer, body) {
      const { id: workspaceId, livemode } = workspace
      const token = await sign({ workspaceId, livemode, keyId: actor, scopes: [], productStatuses: [] }, new Date())
      return calls.send({ token, method, path, answer, requestId, traceparent, ...(body !== undefined && { body }) })
    },
    stop: async () => calls.stop?.(),
  }
}
