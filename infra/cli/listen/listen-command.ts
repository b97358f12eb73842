import { hostname } from 'node:os'
import { checkedCommand } from '../command/api-command.ts'
import { list } from '../command/arguments.ts'
import { callApi } from '../command/call-api.ts'
import { CommandError, UsageError } from '../command/command-error.ts'
import { sandboxOf } from '../command/connection.ts'

const ARGS = {
  'forward-to': {
    type: 'string',
    required: true,
    description: 'Where events are POSTed, such as http://localhost:3000/webhooks',
    valueHint: 'URL',
  },
  events: { type: 'string', description: 'Event types, such as order.paid,product.updated; all unless given' },
  url: { type: 'string', description: "The gateway's address; that of the local stack unless given", valueHint: 'URL' },
} as const

/** No name under `.invalid` resolves (RFC 2606), so nothing is sent to this endpoint before it is disabled, either. */
const NOWHERE = 'https://backoffice-listen.invalid/'
/** The longest wait for the removal of the endpoint: somebody has pressed Ctrl-C. */
const LEAVE_WITHIN_MS = 5000

/**
 * `backoffice listen`: the events of a sandbox for a receiver on this machine, signed as deliveries are (OP-260). They
 * come from an endpoint of its own, which is disabled: its deliveries wait, and are read and forwarded from here.
 */
export const listen = checkedCommand(
  'Forward the events of a sandbox to this machine until Ctrl-C; BACKOFFICE_KEY has a key of the sandbox',
  ARGS,
  async (args, { environment, print }) => {
    const forwardTo = URL.parse(args['forward-to'])
    if (forwardTo === null || !/^https?:$/.test(forwardTo.protocol))
      throw new UsageError(`--forward-to ${args['forward-to']}: must be a URL, such as http://localhost:3000/webhooks`)
    const gateway = sandboxOf(args.url, environment)
    const stopping = untilStopped()
    // Loaded here, since no other command needs how deliveries are signed and sent.
    const { forwardEvents } = await import('./forward-events.ts')
    const endpoint = (await callApi(gateway, {
      method: 'POST',
      path: '/v1/webhooks',
      body: {
        url: NOWHERE,
        enabled_events: args.events === undefined ? ['*'] : list(args.events),
        description: `backoffice listen on ${hostname()}`,
      },
    })) as { id: string; secret: string; created_at: string }
    const path = `/v1/webhooks/${endpoint.id}`
    try {
      await callApi(gateway, { method: 'POST', path: `${path}/disable` })
      print(`Signing secret: ${endpoint.secret}\nForwarding to ${forwardTo.href} until Ctrl-C\n`)
      await forwardEvents({ gateway, path, endpoint, forwardTo, stopping, print })
    } finally {
      const signal = AbortSignal.timeout(LEAVE_WITHIN_MS)
      await callApi(gateway, { method: 'DELETE', path, signal }).catch(({ message, status }: CommandError) => {
        if (status !== 404)
          throw new CommandError(`${message}; DELETE ${path} removes its endpoint if it is still there`)
      })
    }
  },
)

/**
 * Aborts with the first signal to end, or when nobody reads the output any more. Further signals change nothing: those
 * of a terminal come twice, from it and from `backoffice.mjs`.
 */
function untilStopped(): AbortSignal {
  const stopping = new AbortController()
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, () => stopping.abort())
  process.stdout.on('error', () => stopping.abort())
  return stopping.signal
}
