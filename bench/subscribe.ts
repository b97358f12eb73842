import { randomUUID } from 'node:crypto'
import type { StackDescription } from '@backoffice/local/stack-file.ts'
import postgres from 'postgres'
import type { Api } from './api.ts'
import { closedLoop } from './load.ts'

/** The stack that webhook deliveries are measured in. */
export interface WebhookPlace {
  /** The description of the stack. */
  readonly directory: string
  description(): StackDescription
  /** Calls webhook-delivery as the gateway does, for a workspace. */
  openService(workspaceId: string): Promise<Api>
}

/** Connects to the tables of webhook-delivery as a superuser. */
export const deliverySql = (place: WebhookPlace): postgres.Sql =>
  postgres(place.description().postgres, { max: 1, connection: { search_path: 'webhook_delivery' } })

/** Workspaces with endpoints for all events. */
export interface Subscription {
  readonly workspaceIds: readonly string[]
  readonly endpointIds: readonly string[]
  /** Deletes the endpoints. */
  end(): Promise<void>
}

/** Creates a workspace for each list of URLs, with an endpoint for each URL. */
export async function subscribe(place: WebhookPlace, urls: readonly (readonly string[])[]): Promise<Subscription> {
  const endpoints: { workspaceId: string; id: string }[] = []
  const workspaceIds: string[] = []
  for (const own of urls) {
    const workspaceId = randomUUID()
    workspaceIds.push(workspaceId)
    const api = await place.openService(workspaceId)
    await closedLoop(own.length, 8, async (index) => {
      const { id } = await api.post<{ id: string }>('/v1/webhooks', { url: own[index], enabled_events: ['*'] })
      endpoints.push({ workspaceId, id })
    })
    await api.close()
  }
  return {
    workspaceIds,
    endpointIds: endpoints.map(({ id }) => id),
    async end() {
      for (const workspaceId of workspaceIds) {
        const own = endpoints.filter((endpoint) => endpoint.workspaceId === workspaceId)
        const api = await place.openService(workspaceId)
        await closedLoop(own.length, 8, (index) => api.delete(`/v1/webhooks/${own[index]?.id}`))
        await api.close()
      }
    },
  }
}
