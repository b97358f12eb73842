import { ok } from '@backoffice/http/reply.ts'
import { OutboxState } from '@backoffice/service/outbox-answers.ts'
import { z } from 'zod'
import { adminOperation } from '../admin-operation.ts'
import { Unanswered } from '../unanswered.ts'
import { PUBLISHERS } from './publisher-params.ts'

/** GET /admin/v1/outbox: the records that services have not published yet (OP-296). */
export const getOutbox = adminOperation({
  method: 'GET',
  path: '/admin/v1/outbox',
  summary: 'Count the records that services have not published, by service',
  responses: {
    200: z.strictObject({ services: z.array(OutboxState.extend({ service: z.string() })), unanswered: Unanswered }),
  },

  async handle({ askEach }) {
    const asked = { method: 'GET', path: '/internal/outbox', answer: OutboxState } as const
    const { answers, unanswered } = await askEach(PUBLISHERS, asked)
    return ok({ services: answers.map(({ service, answer }) => ({ service, ...answer })), unanswered })
  },
})
