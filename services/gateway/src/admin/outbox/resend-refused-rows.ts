import { ok } from '@backoffice/http/reply.ts'
import { RefusedRowIds, Resent } from '@backoffice/service/outbox-answers.ts'
import { adminOperation } from '../admin-operation.ts'
import { PublisherParams } from './publisher-params.ts'

/** POST /admin/v1/outbox/{service}/resend: lets the relay send refused records again (OP-296). */
export const resendRefusedRows = adminOperation({
  method: 'POST',
  path: '/admin/v1/outbox/{service}/resend',
  summary: 'Publish records again that a service could not publish',
  params: PublisherParams,
  body: RefusedRowIds,
  responses: { 200: Resent },

  async handle({ params: { service }, body, actOnPlatform, askOne }) {
    await actOnPlatform([{ action: 'outbox.resent', target: `outbox/${service}` }], async () => undefined)
    return ok(await askOne(service, { method: 'POST', path: '/internal/outbox/resend', body, answer: Resent }))
  },
})
