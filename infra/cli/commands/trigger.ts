import { checkedCommand } from '../command/api-command.ts'
import { id } from '../command/arguments.ts'
import { type Connection, callApi } from '../command/call-api.ts'
import { CommandError } from '../command/command-error.ts'
import { sandboxOf } from '../command/connection.ts'
import { readableAnswer } from '../command/print-answer.ts'

const ARGS = {
  event: { type: 'positional', required: true, description: 'The event type, such as order.paid' },
  endpoint: {
    type: 'string',
    description: 'Only the endpoint with this id; all that take the event unless given',
    valueHint: 'ID',
  },
  url: { type: 'string', description: "The gateway's address; that of the local stack unless given", valueHint: 'URL' },
} as const

interface Endpoint {
  readonly id: string
  readonly url: string
  readonly enabled_events: readonly string[]
}

/** `backoffice trigger <event>`: the example of an event for a sandbox's endpoints that take it (OP-258, OP-284). */
export const trigger = checkedCommand(
  'Send the example of an event to the endpoints of a sandbox; BACKOFFICE_KEY has a key of the sandbox',
  ARGS,
  async ({ event, endpoint, url }, { environment, print }) => {
    const gateway = sandboxOf(url, environment)
    const endpoints =
      endpoint === undefined ? await endpointsFor(gateway, event) : [await endpointOf(gateway, endpoint)]
    if (endpoints.length === 0)
      throw new CommandError(`no endpoint takes ${event}: POST /v1/webhooks makes one, and so does backoffice listen`)
    const items: object[] = []
    try {
      for (const one of endpoints) {
        const path = `/v1/webhooks/${one.id}/test`
        const delivery = (await callApi(gateway, { method: 'POST', path, body: { event_type: event } })) as object
        items.push({ ...delivery, endpoint: one.id, url: one.url })
      }
    } finally {
      if (items.length > 0) print(readableAnswer({ items }, ['event_id', 'endpoint', 'url']))
    }
  },
)

const endpointOf = async (gateway: Connection, given: string) =>
  (await callApi(gateway, { method: 'GET', path: `/v1/webhooks/${id(given)}` })) as Endpoint

async function endpointsFor(gateway: Connection, event: string): Promise<Endpoint[]> {
  const found: Endpoint[] = []
  for (let page = 1; ; page++) {
    const query = { page: String(page), limit: '100' }
    const { items, has_next_page } = (await callApi(gateway, { method: 'GET', path: '/v1/webhooks', query })) as {
      items: Endpoint[]
      has_next_page: boolean
    }
    found.push(...items)
    if (!has_next_page) break
  }
  return found.filter(({ enabled_events: taken }) => taken.includes(event) || taken.includes('*'))
}
