import { PassThrough } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { ApiError } from '@backoffice/contracts/errors.ts'
import { Import } from '@backoffice/contracts/import.ts'
import { exampleOf } from '@backoffice/contracts/named.ts'
import { type AnyOperation, operation } from '@backoffice/http/operation.ts'
import { okStream } from '@backoffice/http/reply.ts'
import { EVENT_STREAM, Streamed } from '@backoffice/http/streamed.ts'
import type { Database, WorkspaceContext } from '@backoffice/postgres/database.ts'
import { FairSlots } from '@backoffice/runtime/fair-slots.ts'
import { pauseUnless } from '@backoffice/runtime/pause.ts'
import { findImport, importBody } from './import-row.ts'

/** How often an import is looked at, and the longest silence on a stream: proxies close silent ones. */
const EVERY_MS = 1000
const SILENCE_MS = 8000
/** The longest stream: a client connects again, and its key is checked again. */
const LONGEST_MS = 600_000
/** Streams of all workspaces on a replica, and of one: each reads its import every second. None waits. */
const STREAMS = { slots: 200, share: 10, most: 10, waiting: 0, waitMs: 0 }

/**
 * GET /v1/imports/{id}/progress (extension, OP-149): server-sent events `progress` with the import, at first and after
 * each change, and `end` with its final state. It ends after ten minutes, too; a client that connects again gets the
 * present state. Throws `rate_limited` for too many streams.
 */
export const followImport = (db: Database, longestMs = LONGEST_MS): AnyOperation => {
  const slots = new FairSlots(STREAMS, () => new Error('too many streams'))
  return operation({
    operationId: 'followImport',
    method: 'GET',
    path: '/v1/imports/{id}/progress',
    summary: 'Follow an import as server-sent events',
    scope: 'import::read',
    responses: { 200: new Streamed(EVENT_STREAM, `event: progress\ndata: ${JSON.stringify(exampleOf(Import))}\n\n`) },
    openPoints: ['OP-149'],
    extension: true,

    async handle({ params: { id }, context }) {
      await db.inWorkspace(context, (tx) => findImport(tx, id))
      const giveBack = await slots.take(context.workspaceId).catch(() => {
        const message = `At most ${STREAMS.share} progress streams of a workspace are open at a time; close one, or ask GET /v1/imports/${id}`
        throw new ApiError('rate_limited', message, {
          headers: { 'retry-after': '5' },
          errorReason: 'too_many_at_once',
        })
      })
      const ended = new AbortController()
      const content = new PassThrough()
      content.once('close', () => {
        giveBack()
        ended.abort()
      })
      // A stream made of the events would close with the next event only. An error reaches the client through the
      // content.
      pipeline(events(db, context, id, { ended: ended.signal, longestMs }), content).catch(() => undefined)
      return okStream(EVENT_STREAM, content)
    },
  })
}

async function* events(
  db: Database,
  context: WorkspaceContext,
  id: string,
  { ended, longestMs }: { readonly ended: AbortSignal; readonly longestMs: number },
): AsyncGenerator<string> {
  yield `retry: ${EVERY_MS}\n\n`
  const begunAt = performance.now()
  let shown = ''
  let shownAt = 0
  while (!ended.aborted) {
    const found = await db.inWorkspace(context, (tx) => findImport(tx, id))
    const data = JSON.stringify(importBody(found))
    // Batches of a cancelled import may still be under way.
    if (found.ended_at !== null) {
      yield `event: end\ndata: ${data}\n\n`
      return
    }
    const text = data === shown ? ': still here\n\n' : `event: progress\ndata: ${data}\n\n`
    if (data !== shown || performance.now() - shownAt > SILENCE_MS) {
      yield text
      shown = data
      shownAt = performance.now()
    }
    if (performance.now() - begunAt >= longestMs) return
    await pauseUnless(ended, EVERY_MS)
  }
}
