import { slotRefusals } from '@backoffice/contracts/slot-refusals.ts'
import { FairSlots } from '@backoffice/runtime/fair-slots.ts'
import type { FastifyInstance, FastifyRequest } from 'fastify'

/** A body of so many bytes takes milliseconds to parse and to validate, in which nothing else runs. */
const LARGE_BYTES = 64 * 1024

/** Of large requests: few at a time, so that other requests run between two of one workspace. */
const SLOTS = { slots: 4, share: 1, most: 2, waiting: 256, waitMs: 5_000 }

/**
 * Lets requests with large JSON bodies wait for a slot before they are parsed, workspaces in turn (OP-161). `authorize`
 * has set workspace and key; requests without one share a turn. Requests of other services wait for none: these bound
 * themselves what they ask.
 */
export function shareLargeRequests(app: FastifyInstance): void {
  const slots = new FairSlots(
    SLOTS,
    slotRefusals({
      owner: 'This workspace has too many large requests under way; send fewer at once',
      all: 'Too many large requests are under way; try again shortly',
    }),
  )
  const held = new WeakMap<FastifyRequest, () => void>()
  app.addHook('preParsing', async (request, reply, payload) => {
    const isLarge = Number(request.headers['content-length'] ?? 0) >= LARGE_BYTES
    const { config, url } = request.routeOptions
    if (isLarge && !config.takesFile && !url?.startsWith('/internal/')) {
      const { workspace_id = '', key_id = '' } = request.logged
      const giveBack = await slots.take(String(workspace_id), { key: String(key_id) })
      // No `close` event comes once the client has left: the slot would stay taken for ever.
      if (reply.raw.destroyed) giveBack()
      else reply.raw.once('close', giveBack)
      held.set(request, giveBack)
    }
    return payload
  })
  // The work is done, and a client may take its answer as slowly as it likes.
  app.addHook('onSend', async (request) => held.get(request)?.())
}
