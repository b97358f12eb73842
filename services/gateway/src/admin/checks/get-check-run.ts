import { notFound } from '@backoffice/contracts/errors.ts'
import { Id } from '@backoffice/contracts/fields.ts'
import { ok } from '@backoffice/http/reply.ts'
import { CHECKS, CheckName, CheckRun } from '@backoffice/service/checks/check-run.ts'
import { z } from 'zod'
import { adminOperation } from '../admin-operation.ts'

const Answer = z.strictObject({ run: CheckRun.nullable() })

/** GET /admin/v1/checks/{check}/runs/{id}: how far it is, and what it has found (OP-299). */
export const getCheckRun = adminOperation({
  method: 'GET',
  path: '/admin/v1/checks/{check}/runs/{id}',
  summary: 'Get a run of a check, with its findings',
  params: z.strictObject({ check: CheckName, id: Id }),
  responses: { 200: CheckRun },

  async handle({ params: { check, id }, askOne }) {
    const asked = { method: 'GET', path: '/internal/checks/run', query: { id }, answer: Answer } as const
    const { run } = await askOne(CHECKS[check], asked)
    if (run?.check !== check) throw notFound([], `Run ${id} of ${check} does not exist`)
    return ok(run)
  },
})
