import { InternalCalls } from '@backoffice/http/internal-calls.ts'
import type { TokenSigner } from '@backoffice/http/token-signer.ts'
import type { WorkspaceContext } from '@backoffice/postgres/database.ts'
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
  readonly standard_signature: boolean | undefined
}

/** An app in a workspace. */
export interface Installed {
  readonly installation: string
  readonly provider: string
}

const MintedKey = z.object({ key: z.string() })

interface PlatformSettings {
  readonly GATEWAY_URL: string
  readonly WEBHOOK_DELIVERY_URL: string
}

/**
 * What workers of apps ask of the gateway and of webhook-delivery, in the name of a workspace. Every request may be
 * repeated. All throw `service_unavailable` when there is no answer.
 */
export function platformClient(settings: PlatformSettings, signer: TokenSigner) {
  const gateway = new InternalCalls('gateway', settings.GATEWAY_URL, signer)
  const webhooks = new InternalCalls('webhook-delivery', settings.WEBHOOK_DELIVERY_URL, signer)

  function send<Answer>(
    service: InternalCalls,
    context: WorkspaceContext,
    method: 'POST' | 'PUT' | 'DELETE',
    path: `/internal/${string}`,
    body?: unknown,
    answer: z.ZodType<Answer> | null = null,
  ): Promise<Answer> {
    const caller = { ...context, keyId: 'apps', productStatuses: [] }
    return service.send({ caller, method, path, answer, body })
  }

  return {
    name: 'platform client',
    /** Makes a key of kind app, which does not work yet, and returns its text. */
    async mintKey(context: WorkspaceContext, { id, secret, name, scopes }: NewAppKey): Promise<string> {
      const body = { secret: secret.toString('base64'), name, scopes }
      const answer = await send(gateway, context, 'PUT', `/internal/app-keys/${id}`, body, MintedKey)
      return answer.key
    },
    activateKey: (context: WorkspaceContext, id: string) =>
      send(gateway, context, 'POST', `/internal/app-keys/${id}/activate`),
    /** A key that does not exist counts as revoked. */
    revokeKey: (context: WorkspaceContext, id: string) =>
      send(gateway, context, 'POST', `/internal/app-keys/${id}/revoke`),
    createEndpoint: (context: WorkspaceContext, { id, events, ...endpoint }: NewEndpoint) =>
      send(webhooks, context, 'PUT', `/internal/endpoints/${id}`, { ...endpoint, enabled_events: events }),
    /** Refuses an app's key from `at` on, or lets it work again. A key that does not exist stays so. */
    changeKey: (context: WorkspaceContext, id: string, change: 'suspend' | 'resume', at: string) =>
      send(gateway, context, 'POST', `/internal/app-keys/${id}/${change}`, { at }),
    /** Lets the deliveries to the endpoints of an app wait from `at` on, or go on. */
    changeDeliveries(context: WorkspaceContext, of: Installed, change: 'suspend' | 'resume', at: string) {
      const body = { provider: of.provider, at }
      return send(webhooks, context, 'POST', `/internal/app-installations/${of.installation}/${change}`, body)
    },
    /** Gives an endpoint another URL, if it has one of `former`. */
    moveEndpoint: (context: WorkspaceContext, id: string, to: { readonly url: string; readonly former: string[] }) =>
      send(webhooks, context, 'POST', `/internal/endpoints/${id}/move`, to),
    /** An endpoint that does not exist counts as deleted. */
    deleteEndpoint: (context: WorkspaceContext, id: string) =>
      send(webhooks, context, 'DELETE', `/internal/endpoints/${id}`),
    /** Whose the endpoints are that a key makes. */
    registerKey: (context: WorkspaceContext, id: string, of: Installed & { readonly endpoint: string | null }) =>
      send(webhooks, context, 'PUT', `/internal/app-keys/${id}`, of),
    /** Deletes all endpoints of an app, and no key of it makes another one. */
    endEndpoints: (context: WorkspaceContext, { installation, provider }: Installed, keys: readonly string[]) =>
      send(webhooks, context, 'POST', `/internal/app-installations/${installation}/end`, { provider, keys }),
    async stop() {
      await Promise.all([gateway.stop(), webhooks.stop()])
    },
  }
}
export type PlatformClient = ReturnType<typeof platformClient>
