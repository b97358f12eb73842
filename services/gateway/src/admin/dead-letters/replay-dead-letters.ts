import { unprocessable } from '@backoffice/contracts/errors.ts'
import { ok } from '@backoffice/http/reply.ts'
import { placeOf } from '@backoffice/service/dead-letters/dead-letter.ts'
import { Replayed, ReplayedLetters } from '@backoffice/service/dead-letters/replay-dead-letters.ts'
import { adminOperation } from '../admin-operation.ts'
import { ConsumerParams, lastWeek, serviceOf } from './consumer-params.ts'

/**
 * POST /admin/v1/consumers/{consumer}/dead-letters/replay: sends dead letters to their topics again, each once: those
 * of the last week, since a time, or with these ids. One request ends after seconds, and says what is left (OP-295).
 */
export const replayAllDeadLetters = adminOperation({
  method: 'POST',
  path: '/admin/v1/consumers/{consumer}/dead-letters/replay',
  summary: 'Send dead letters of a consumer to their topics again',
  params: ConsumerParams,
  body: ReplayedLetters.prefault({}),
  responses: { 200: Replayed },

  async handle({ params: { consumer }, body: { since, ...chosen }, now, actOnPlatform, askOne }) {
    const other = chosen.ids?.findIndex((id) => placeOf(id).consumer !== consumer) ?? -1
    if (other >= 0) throw unprocessable(['ids', other], `must be of a dead letter of ${consumer}`)
    // Before it is asked: an answer that is lost leaves no replay without its entry.
    await actOnPlatform(
      [{ action: 'dead_letters.replayed', target: `consumers/${consumer}/dead-letters` }],
      async () => undefined,
    )
    const body = { ...chosen, consumer, since: since ?? lastWeek(now) }
    const asked = { method: 'POST', path: '/internal/dead-letters/replay', body, answer: Replayed } as const
    return ok(await askOne(serviceOf(consumer), asked))
  },
})
