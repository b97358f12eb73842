import { randomUUID } from 'node:crypto'
import type { StackDescription } from '@backoffice/local/stack-file.ts'
import { eventually } from '@backoffice/testing/eventually.ts'
import type { Receiver } from '@backoffice/testing/receiver.ts'
import { expect } from 'vitest'
import { eventOf } from './webhooks.ts'
import { newWorkspace } from './workspaces.ts'

export interface Endpoint {
  readonly id: string
  readonly secret: string
}

interface Delivery {
  readonly id: string
  readonly event_id: string
  readonly status: string
  readonly attempts_made: number
}

interface Attempt {
  readonly at: string
  readonly duration_ms: number
  readonly request: { url: string; headers: Record<string, string>; body: string }
  readonly response: { status: number; headers: Record<string, string>; body: string; truncated: boolean } | null
  readonly error: { class: string; message: string } | null
}

/** A new workspace with an endpoint for all events at a new path of the receiver, and the events that arrive there. */
export async function subscribedAt(receiver: Receiver, description: StackDescription) {
  const { api } = await newWorkspace(description)
  const url = `${receiver.url}/${randomUUID()}`
  const { body: endpoint } = await api<Endpoint>('POST', '/v1/webhooks', { url, enabled_events: ['*'] })
  const path = `/v1/webhooks/${endpoint.id}`
  const requests = () => receiver.requests.filter((request) => request.path === new URL(url).pathname)
  const arrived = () => requests().map((request) => ({ type: eventOf(request).type, data: eventOf(request).data }))
  return {
    api,
    url,
    endpoint,
    path,
    requests,
    /** Sends a change and returns its answer. */
    change: async <Body>(method: string, changed: string, body?: unknown): Promise<Body> => {
      const answer = await api<Body>(method, changed, body)
      expect(answer.status, `${method} ${changed}`).toBeLessThan(300)
      return answer.body
    },
    /** Waits for the deletion of a resource and returns its events. They arrive in the order of its changes. */
    eventsOf: (id: string) =>
      eventually(`the deletion of ${id}`, () => {
        const events = arrived().filter(({ data }) => data.id === id)
        return events.at(-1)?.type.endsWith('.deleted') && events
      }),
    /** Waits for `count` events and returns all. */
    eventsSoFar: (count: number) => eventually(`${count} events`, () => arrived().length >= count && arrived()),
    /** Waits until the newest delivery has the status, and returns it with its attempts. */
    delivery: (status: string) =>
      eventually(`a delivery is ${status}`, async () => {
        const [newest] = (await api<{ items: Delivery[] }>('GET', `${path}/deliveries`)).body.items
        if (newest?.status !== status) return false
        return (await api<Delivery & { attempts: Attempt[] }>('GET', `${path}/deliveries/${newest.id}`)).body
      }),
  }
}
