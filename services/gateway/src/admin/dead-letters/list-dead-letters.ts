import { ok } from '@backoffice/http/reply.ts'
import { DeadLetterPage, DeadLetterQuery } from '@backoffice/service/dead-letters/read-dead-letters.ts'
import { adminOperation } from '../admin-operation.ts'
import { ConsumerParams, lastWeek, serviceOf } from './consumer-params.ts'

/** GET /admin/v1/consumers/{consumer}/dead-letters: oldest first, of the last week unless told (OP-295). */
export const listDeadLetters = adminOperation({
  method: 'GET',
  path: '/admin/v1/consumers/{consumer}/dead-letters',
  summary: 'List the dead letters of a consumer, without their contents',
  params: ConsumerParams,
  query: DeadLetterQuery,
  responses: { 200: DeadLetterPage },

  async handle({ params: { consumer }, query: { since, after, limit }, now, askOne }) {
    const query = {
      consumer,
      since: since ?? lastWeek(now),
      ...(after && { after }),
      ...(limit && { limit: `${limit}` }),
    }
    const asked = { method: 'GET', path: '/internal/dead-letters', query, answer: DeadLetterPage } as const
    return ok(await askOne(serviceOf(consumer), asked))
  },
})
