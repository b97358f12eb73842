import { PassThrough } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { ApiError } from '@backoffice/contracts/errors.ts'
import type { Import } from '@backoffice/contracts/import.ts'
import { type AnyOperation, operation } from '@backoffice/http/operation.ts'
import { okStream } from '@backoffice/http/reply.ts'
import { EVENT_STREAM, Streamed } from '@backoffice/http/streamed.ts'
import type { Database, WorkspaceContext } from '@backoffice/postgres/database.ts'
import { pauseUnless } from '@backoffice/runtime/pause.ts'
import { findImport, ImportPath, importBody } from './import-row.ts'

/** How often an import is looked at, and the longest silence on a stream: proxies close silent ones. */
const EVERY_MS = 1000
const SILENCE_MS = 8000
/** Streams of one workspace, and of all, on a replica: each reads its import every second. */
const STREAMS_PER_WORKSPACE = 10
const STREAMS = 200

/** The states of which nothing follows without a request. */
const FINAL: readonly Import['status'][] = ['COMPLETED', 'COMPLETED_WITH_ERRORS', 'FAILED', 'CANCELLED']

/**
 * GET /v1/imports/{id}/progress (extension, OP-149): server-sent events `progress` with the import, at first and after
 * each change, and `end` with its final state. A client that connects again gets the present state. Throws
 * `rate_limited` for too many streams.
 */
export const followImport = (db: Database): AnyOperation => {
  const open = new Map<string, number>()
  let all = 0
  const opened = (workspaceId: string, change: 1 | -1) => {
    const count = (open.get(workspaceId) ?? 0) + change
    if (count === 0) open.delete(workspaceId)
    else open.set(workspaceId, count)
    all += change
  }
  return operation({
    operationId: 'followImport',
    method: 'GET',
    path: '/v1/imports/{id}/progress',
    summary: 'Follow an import as server-sent events',
    scope: 'import::read',
    params: ImportPath,
    responses: { 200: new Streamed(EVENT_STREAM) },
    openPoints: ['OP-149'],
    extension: true,

    async handle({ params: { id }, context }) {
      const { workspaceId } = context
      await db.inWorkspace(context, (tx) => findImport(tx, id))
      if (all >= STREAMS || (open.get(workspaceId) ?? 0) >= STREAMS_PER_WORKSPACE) {
        const message = `At most ${STREAMS_PER_WORKSPACE} progress streams of a workspace are open at a time; close one, or ask GET /v1/imports/${id}`
        throw new ApiError('rate_limited', message, { headers: { 'retry-after': '5' } })
      }
      opened(workspaceId, 1)
      const ended = new AbortController()
      const content = new PassThrough()
      content.once('close', () => {
        opened(workspaceId, -1)
        ended.abort()
      })
      // A stream made of the events would close with the next event only. An error reaches the client through the
      // content.
      pipeline(events(db, context, id, ended.signal), content).catch(() => undefined)
      return okStream(EVENT_STREAM, content)
    },
  })
}

async function* events(
  db: Database,
  context: WorkspaceContext,
  id: string,
  ended: AbortSignal,
): AsyncGenerator<string> {
  yield `retry: ${EVERY_MS}\n\n`
  let shown = ''
  let shownAt = 0
  while (!ended.aborted) {
    const found = importBody(await db.inWorkspace(context, (tx) => findImport(tx, id)))
    const data = JSON.stringify(found)
    if (FINAL.includes(found.status)) {
      yield `event: end\ndata: ${data}\n\n`
      return
    }
    const text = data === shown ? ': still here\n\n' : `event: progress\ndata: ${data}\n\n`
    if (data !== shown || performance.now() - shownAt > SILENCE_MS) {
      yield text
      shown = data
      shownAt = performance.now()
    }
    await pauseUnless(ended, EVERY_MS)
  }
}
