import { TimestampInput } from '@backoffice/contracts/fields.ts'
import { SERVICE_NAMES } from '@backoffice/contracts/services.ts'
import { ok } from '@backoffice/http/reply.ts'
import { DeadLetterCounts } from '@backoffice/service/dead-letters/read-dead-letters.ts'
import { z } from 'zod'
import { adminOperation } from '../admin-operation.ts'
import { Unanswered } from '../unanswered.ts'
import { lastWeek } from './consumer-params.ts'

const Consumer = DeadLetterCounts.shape.consumers.element.extend({ service: z.string() })

/** GET /admin/v1/dead-letters: which consumers have some, of the last week unless told (OP-295). */
export const countAllDeadLetters = adminOperation({
  method: 'GET',
  path: '/admin/v1/dead-letters',
  summary: 'List the consumers that could not process records',
  query: z.strictObject({ since: TimestampInput.optional() }),
  responses: { 200: z.strictObject({ consumers: z.array(Consumer), unanswered: Unanswered }) },

  async handle({ query: { since }, now, askEach }) {
    const { answers, unanswered } = await askEach(SERVICE_NAMES, {
      method: 'GET',
      path: '/internal/dead-letters/counts',
      query: { since: since ?? lastWeek(now) },
      answer: DeadLetterCounts,
    })
    const consumers = answers.flatMap(({ service, answer }) => answer.consumers.map((one) => ({ ...one, service })))
    return ok({ consumers, unanswered })
  },
})
