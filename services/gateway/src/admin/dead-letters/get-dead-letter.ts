import { notFound } from '@backoffice/contracts/errors.ts'
import { ok } from '@backoffice/http/reply.ts'
import { DeadLetterContents, DeadLetterId, placeOf } from '@backoffice/service/dead-letters/dead-letter.ts'
import { z } from 'zod'
import { adminOperation } from '../admin-operation.ts'
import { serviceOf } from './consumer-params.ts'

const Answer = z.strictObject({ letter: DeadLetterContents.nullable() })

/** GET /admin/v1/dead-letters/{id}: with its contents, which may have personal data: the audit log has it (OP-295). */
export const getDeadLetter = adminOperation({
  method: 'GET',
  path: '/admin/v1/dead-letters/{id}',
  summary: 'Read a dead letter with its contents',
  params: z.strictObject({ id: DeadLetterId }),
  responses: { 200: DeadLetterContents },

  async handle({ params: { id }, askOne, act, actOnPlatform }) {
    const asked = { method: 'GET', path: '/internal/dead-letters/contents', query: { id }, answer: Answer } as const
    const { letter } = await askOne(serviceOf(placeOf(id).consumer), asked)
    if (letter === null) throw notFound([], `Dead letter ${id} does not exist; Kafka keeps dead letters for 90 days`)
    const acts = [{ action: 'dead_letter.read', target: `dead-letters/${id}` }] as const
    const answer = async () => ok(letter)
    return letter.workspace === null ? actOnPlatform(acts, answer) : act(letter.workspace, acts, answer)
  },
})
