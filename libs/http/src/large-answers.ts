import type { ServerResponse } from 'node:http'
import { slotRefusals } from '@backoffice/contracts/slot-refusals.ts'
import { deadline } from '@backoffice/runtime/deadline.ts'
import { FairSlots } from '@backoffice/runtime/fair-slots.ts'
import type { Caller } from './internal-token.ts'
import { takenOf } from './write-deadline.ts'

/** An answer of more bytes is large. Read from PostgreSQL and made JSON, it is in memory about ten times. */
export const LARGE_BYTES = 512 * 1024

/**
 * Of LARGE_BYTES each. A workspace gets half of them, and an answer of 4 MiB or more takes all that it may. Few wait:
 * each holds one of the gateway's requests, which small ones of others need.
 */
const SLOTS = { slots: 16, share: 8, most: 8, waiting: 8, waitMs: 15_000, takeOverMs: 0 }

/** A client takes a large answer within this time, and a second more for each BYTES_PER_SECOND: others wait for it. */
const SENT_WITHIN_MS = 30_000
const BYTES_PER_SECOND = 64 * 1024
/**
 * While another workspace waits, an answer is broken off when its client takes less within this time. The kernel takes
 * up to 1.5 MB at once ahead of a client (measured), so one that steadily takes 200 KiB/s may seem to take nothing for
 * seven seconds.
 */
const CONTENDED = { bytes: 10 * BYTES_PER_SECOND, withinMs: 10_000 }
/** After a longer pause between two looks nobody has waited, and the time begins anew. */
const LOOKED_WITHIN_MS = 2500

/** Lets large answers take turns, workspaces one after the other (OP-192). Others wait for nothing. */
export class LargeAnswers {
  readonly #slots = new FairSlots(
    SLOTS,
    slotRefusals({
      owner: 'This workspace has too many large answers under way; ask for fewer at once, or for smaller pages',
      all: 'Too many large answers are under way; try again shortly',
    }),
  )

  /** The turns of one request: the first call waits, and what it has got is kept until the answer is sent. */
  turnOf({ workspaceId, keyId }: Pick<Caller, 'workspaceId' | 'keyId'>, answer: ServerResponse) {
    let isHeld = false
    let end = (): void => undefined
    return {
      isHeld: () => isHeld,
      /** For a request that waits for something else before its answer, which is small. */
      giveBack: () => {
        isHeld = false
        end()
      },
      /** `inMemory`: the bytes that are in memory at a time. `bytes`: those of the whole answer. */
      take: async ({ inMemory, bytes = inMemory }: { inMemory: number; bytes?: number }): Promise<void> => {
        if (isHeld) return
        const isTooSlow = slowness(() => waitingFor(answer))
        const tooSlow = () => answer.socket?.destroy(new Error('The client takes a large answer too slowly'))
        const giveBack = await this.#slots.take(workspaceId, {
          key: keyId,
          count: Math.ceil(inMemory / LARGE_BYTES),
          get onTakenOver() {
            return isTooSlow() ? tooSlow : undefined
          },
          isForAny: true,
        })
        isHeld = true
        const inTime = deadline(SENT_WITHIN_MS + (1000 * bytes) / BYTES_PER_SECOND, tooSlow)
        end = () => {
          inTime()
          giveBack()
          end = () => undefined
        }
        // No `close` event comes once the client has left.
        if (answer.destroyed) end()
        else for (const event of ['finish', 'close']) answer.once(event, () => end())
      },
    }
  }
}

/**
 * Returns a function that tells, when it is called about every second, whether a client takes an answer too slowly.
 * `taken`: the bytes that it has taken; undefined while none wait for it.
 */
export function slowness(taken: () => number | undefined, now = () => performance.now()): () => boolean {
  let seen = { bytes: Number.NEGATIVE_INFINITY, at: 0 }
  let lookedAt = Number.NEGATIVE_INFINITY
  return () => {
    const [bytes, at] = [taken(), now()]
    const isFirstLook = at - lookedAt > LOOKED_WITHIN_MS
    lookedAt = at
    if (bytes === undefined || isFirstLook || bytes - seen.bytes >= CONTENDED.bytes) seen = { bytes: bytes ?? 0, at }
    return at - seen.at >= CONTENDED.withinMs
  }
}

function waitingFor({ socket }: ServerResponse): number | undefined {
  return socket !== null && socket.writableLength > 0 ? takenOf(socket) : undefined
}
