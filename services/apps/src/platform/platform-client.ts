import { InternalCalls } from '@backoffice/http/internal-calls.ts'
import type { TokenSigner } from '@backoffice/http/token-signer.ts'
import type { WorkspaceContext } from '@backoffice/postgres/database.ts'
import type { Component } from '@backoffice/runtime/component.ts'
import { z } from 'zod'

/** A key of kind app that is to be minted. */
export interface NewAppKey {
  readonly id: string
  /** 32 random bytes; the same bytes give the same key. */
  readonly secret: Buffer
  readonly name: string
  readonly scopes: readonly string[]
}

interface NewEndpoint {
  readonly id: string
  readonly url: string
  readonly events: readonly string[]
  /** `whsec_…` */
  readonly secret: string
  readonly description: string
}

/**
 * What apps asks of the gateway and of webhook-delivery, in the name of a workspace. Every request may be repeated. All
 * throw `service_unavailable` when there is no answer.
 */
export interface PlatformClient extends Component {
  /** Makes a key of kind app, which does not work yet, and returns its text. */
  mintKey(context: WorkspaceContext, key: NewAppKey): Promise<string>
  activateKey(context: WorkspaceContext, id: string): Promise<void>
  /** A key that does not exist counts as revoked. */
  revokeKey(context: WorkspaceContext, id: string): Promise<void>
  createEndpoint(context: WorkspaceContext, endpoint: NewEndpoint): Promise<void>
  /** An endpoint that does not exist counts as deleted. */
  deleteEndpoint(context: WorkspaceContext, id: string): Promise<void>
}

interface PlatformSettings {
  readonly GATEWAY_URL: string
  readonly WEBHOOK_DELIVERY_URL: string
}

/** Opens connections to both services. */
export function platformClient(settings: PlatformSettings, signer: TokenSigner): PlatformClient {
  const gateway = new InternalCalls('gateway', settings.GATEWAY_URL, signer)
  const webhooks = new InternalCalls('webhook-delivery', settings.WEBHOOK_DELIVERY_URL, signer)

  function send<Answer>(
    service: InternalCalls,
    { workspaceId, livemode, traceparent }: WorkspaceContext,
    method: 'POST' | 'PUT' | 'DELETE',
    path: `/internal/${string}`,
    body?: unknown,
    answer: z.ZodType<Answer> | null = null,
  ): Promise<Answer> {
    const caller = { workspaceId, livemode, keyId: 'apps', productStatuses: [] }
    return service.send({ caller, method, path, traceparent, answer, body })
  }

  return {
    name: 'platform client',
    async mintKey(context, { id, secret, name, scopes }) {
      const body = { secret: secret.toString('base64'), name, scopes }
      const { key } = await send(
        gateway,
        context,
        'PUT',
        `/internal/app-keys/${id}`,
        body,
        z.object({ key: z.string() }),
      )
      return key
    },
    activateKey: (context, id) => send(gateway, context, 'POST', `/internal/app-keys/${id}/activate`),
    revokeKey: (context, id) => send(gateway, context, 'POST', `/internal/app-keys/${id}/revoke`),
    createEndpoint: (context, { id, url, events, secret, description }) =>
      send(webhooks, context, 'PUT', `/internal/endpoints/${id}`, { url, enabled_events: events, secret, description }),
    deleteEndpoint: (context, id) => send(webhooks, context, 'DELETE', `/internal/endpoints/${id}`),
    async stop() {
      await Promise.all([gateway.stop(), webhooks.stop()])
    },
  }
}
