import { ok } from '@backoffice/http/reply.ts'
import { CHECKING_SERVICES, CheckRunSummary } from '@backoffice/service/checks/check-run.ts'
import { z } from 'zod'
import { adminOperation } from '../admin-operation.ts'
import { Unanswered } from '../unanswered.ts'

const Runs = z.strictObject({ runs: z.array(CheckRunSummary) })

/** GET /admin/v1/checks: the last run of each check (OP-299). */
export const listChecks = adminOperation({
  method: 'GET',
  path: '/admin/v1/checks',
  summary: 'List the last run of each check',
  responses: { 200: Runs.extend({ unanswered: Unanswered }) },

  async handle({ askEach }) {
    const asked = { method: 'GET', path: '/internal/checks/runs', answer: Runs } as const
    const { answers, unanswered } = await askEach(CHECKING_SERVICES, asked)
    return ok({ runs: answers.flatMap(({ answer }) => answer.runs), unanswered })
  },
})
