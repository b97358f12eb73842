import { PageQuery } from '@backoffice/contracts/pagination.ts'
import { ok } from '@backoffice/http/reply.ts'
import { RefusedRowPage, RowId } from '@backoffice/service/outbox-answers.ts'
import { adminOperation } from '../admin-operation.ts'
import { PublisherParams } from './publisher-params.ts'

/** GET /admin/v1/outbox/{service}/refused: what it could not publish, without contents, oldest first (OP-296). */
export const listRefusedRows = adminOperation({
  method: 'GET',
  path: '/admin/v1/outbox/{service}/refused',
  summary: 'List the records that a service could not publish',
  params: PublisherParams,
  query: PageQuery.pick({ limit: true }).extend({ after: RowId.optional() }),
  responses: { 200: RefusedRowPage },

  async handle({ params: { service }, query: { after, limit }, askOne }) {
    const query = { ...(after && { after }), ...(limit && { limit: `${limit}` }) }
    const asked = { method: 'GET', path: '/internal/outbox/refused', query, answer: RefusedRowPage } as const
    return ok(await askOne(service, asked))
  },
})
