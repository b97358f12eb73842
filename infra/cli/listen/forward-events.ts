import { setTimeout as delay } from 'node:timers/promises'
import { outgoingOf } from '../../../services/webhook-delivery/src/sending/attempt.ts'
import { type Connection, callApi } from '../command/call-api.ts'
import { CommandError } from '../command/command-error.ts'

interface Forwarding {
  readonly gateway: Connection
  /** That of the endpoint whose deliveries are forwarded. */
  readonly path: string
  readonly endpoint: { readonly secret: string; readonly created_at: string }
  readonly forwardTo: URL
  readonly stopping: AbortSignal
  print(text: string): void
}

interface Delivery {
  readonly id: string
  readonly event_id: string
  readonly event_type: string
  readonly created_at: string
}

const POLL_MS = 1000
/** The pause after each page of a look. Many pages are looked at more rarely: the key has a rate limit. */
const PAGE_PAUSE_MS = 200
/** Lists go by the time at which deliveries were made. They may be committed so much later, and clocks differ. */
const OVERLAP_MS = 30_000
/** As long as a delivery waits for its answer (spec: Retries 1). */
const ANSWER_WITHIN_MS = 20_000

/**
 * Forwards each delivery of an endpoint once, oldest first, until it is stopped. Goes on while the gateway is away.
 * Throws its refusal once the endpoint or the key is gone.
 */
export async function forwardEvents(forwarding: Forwarding): Promise<void> {
  const { gateway, path, endpoint, stopping, print } = forwarding
  const forwarded = new Set<string>()
  // By the gateway's clock and the time that has passed since: the clock of this machine may be wrong.
  const [createdAt, startedAt] = [Date.parse(endpoint.created_at), performance.now()]
  let lookedAt = startedAt
  let said: string | undefined
  while (!stopping.aborted) {
    let pages = 0
    try {
      const lookingAt = performance.now()
      const since = new Date(createdAt + (lookedAt - startedAt) - OVERLAP_MS).toISOString()
      const found = await newDeliveries(forwarding, forwarded, since)
      pages = found.pages
      for (const delivery of found.deliveries) {
        if (stopping.aborted) return
        const { body } = (await callApi(gateway, {
          method: 'GET',
          path: `${path}/deliveries/${delivery.id}/body`,
          signal: stopping,
        })) as { body: string }
        const answer = await forward(forwarding, delivery.event_id, body)
        print(`${delivery.event_type}  ${delivery.event_id}  ${answer}\n`)
        forwarded.add(delivery.id)
      }
      lookedAt = lookingAt
      said = undefined
    } catch (error) {
      if (stopping.aborted) return
      if (!(error instanceof CommandError) || isFinal(error)) throw error
      if (said !== error.message) print(`${error.message}; trying again\n`)
      said = error.message
    }
    await delay(Math.max(POLL_MS, pages * PAGE_PAUSE_MS), undefined, { signal: stopping }).catch(() => undefined)
  }
}

/** Whether the gateway would refuse the same request again: only the rate limit passes. */
const isFinal = ({ status = 0 }: CommandError): boolean => status >= 400 && status < 500 && status !== 429

/** The deliveries made since then that are not forwarded yet, oldest first. */
async function newDeliveries(
  { gateway, path, stopping }: Forwarding,
  forwarded: ReadonlySet<string>,
  since: string,
): Promise<{ deliveries: Delivery[]; pages: number }> {
  const found: Delivery[] = []
  let after: string | undefined
  let pages = 0
  do {
    const query = { since, after, limit: '100' }
    const page = (await callApi(gateway, {
      method: 'GET',
      path: `${path}/deliveries`,
      query,
      signal: stopping,
    })) as {
      items: Delivery[]
      has_next_page: boolean
    }
    found.push(...page.items.filter(({ id }) => !forwarded.has(id)))
    after = page.has_next_page ? page.items.at(-1)?.id : undefined
    pages++
  } while (after !== undefined)
  return { deliveries: found.reverse(), pages }
}

/** Sends one attempt as the platform does. Returns the answer's status, or why there is none. */
async function forward({ endpoint, forwardTo, stopping }: Forwarding, eventId: string, body: string): Promise<string> {
  const key = Buffer.from(endpoint.secret.replace('whsec_', ''), 'base64')
  const signing = { keys: [{ key, endsAt: null }], isStandardToo: true }
  const { headers } = outgoingOf({ eventId, body: Buffer.from(body) }, { url: forwardTo, signing }, new Date())
  try {
    const signal = AbortSignal.any([stopping, AbortSignal.timeout(ANSWER_WITHIN_MS)])
    const response = await fetch(forwardTo, { method: 'POST', headers, body, redirect: 'manual', signal })
    await response.body?.cancel()
    return String(response.status)
  } catch (error) {
    const { message, cause } = error as Error & { readonly cause?: NodeJS.ErrnoException }
    return `no answer: ${cause?.code ?? cause?.message ?? message}`
  }
}
