import { notFound } from '@backoffice/contracts/errors.ts'
import { Id, Timestamp } from '@backoffice/contracts/fields.ts'
import { ok } from '@backoffice/http/reply.ts'
import { z } from 'zod'
import { adminOperation } from '../admin-operation.ts'

const LoggedRequest = z.strictObject({
  request_id: Id,
  at: Timestamp,
  workspace: Id,
  key_id: z.string(),
  method: z.string(),
  path: z.string(),
  route: z.string().nullable(),
  service: z.string().nullable(),
  status: z.int(),
  error_reason: z.string().nullable(),
  duration_ms: z.number(),
  trace_id: z.string().nullable(),
})

/** GET /admin/v1/requests/{id}: a request of a workspace by its `X-Request-Id`, for seven days (OP-293). */
export const getRequest = adminOperation({
  method: 'GET',
  path: '/admin/v1/requests/{id}',
  summary: 'Read a request by its X-Request-Id',
  responses: { 200: LoggedRequest },

  async handle({ params: { id }, worker }) {
    const [found] = await worker`
      select request_id, at, workspace_id as workspace, key_id, method, path, route, service, status, error_reason,
        duration_ms, trace_id
      from request_log where request_id = ${id}`
    if (found === undefined)
      throw notFound(
        [],
        `Request ${id} is not in the log: no key sent it in the last seven days, or it came a second ago`,
      )
    return ok(found)
  },
})
