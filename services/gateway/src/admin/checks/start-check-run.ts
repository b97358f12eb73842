import { accepted } from '@backoffice/http/reply.ts'
import { CHECKS, CheckName, CheckRun, RunParameters } from '@backoffice/service/checks/check-run.ts'
import { z } from 'zod'
import { adminOperation } from '../admin-operation.ts'

/** POST /admin/v1/checks/{check}/runs: has the owner of a check run it, once at a time (OP-299). */
export const startCheckRun = adminOperation({
  method: 'POST',
  path: '/admin/v1/checks/{check}/runs',
  summary: 'Compare what is stored with what should be',
  params: z.strictObject({ check: CheckName }),
  body: RunParameters.prefault({}),
  responses: { 202: CheckRun },

  async handle({ params: { check }, body: parameters, actOnPlatform, askOne }) {
    await actOnPlatform([{ action: 'check.started', target: `checks/${check}/runs` }], async () => undefined)
    const body = { check, parameters }
    return accepted(
      await askOne(CHECKS[check], { method: 'POST', path: '/internal/checks/runs', body, answer: CheckRun }),
    )
  },
})
