import { notFound } from '@backoffice/contracts/errors.ts'
import { Id } from '@backoffice/contracts/fields.ts'
import { validate } from '@backoffice/contracts/validation.ts'
import { type AnyOperation, operation } from '@backoffice/http/operation.ts'
import { ok } from '@backoffice/http/reply.ts'
import type { Database, Sql } from '@backoffice/postgres/database.ts'
import { z } from 'zod'
import type { Checks } from './check.ts'
import { CheckRun, CheckRunSummary, RunAsked, type RunParameters } from './check-run.ts'

const NO_PARAMETERS = z.strictObject({})

/** What a service answers operators of its checks, asked by the gateway (OP-299); as in `operatorRequests`. */
export const checkRequests = (
  checks: Checks,
  { sql }: Pick<Database, 'sql'>,
  wake: () => void,
): readonly AnyOperation[] => [
  operation({
    method: 'POST',
    path: '/internal/checks/runs',
    scope: 'internal',
    body: RunAsked,
    responses: { 200: CheckRun },
    async handle({ body: { check, parameters } }) {
      const asked = checks[check]
      if (asked === undefined) throw notFound([], `Check ${check} does not exist`)
      validate(asked.parameters ?? NO_PARAMETERS, parameters, 'body')
      const run = await askFor(sql, check, parameters)
      wake()
      return ok(run)
    },
  }),
  operation({
    method: 'GET',
    path: '/internal/checks/run',
    scope: 'internal',
    query: z.strictObject({ id: Id }),
    responses: { 200: z.strictObject({ run: CheckRun.nullable() }) },
    async handle({ query: { id } }) {
      const [run] = await sql<CheckRun[]>`select ${summary(sql)}, findings from check_run where id = ${id}`
      return ok({ run: run ?? null })
    },
  }),
  operation({
    method: 'GET',
    path: '/internal/checks/runs',
    scope: 'internal',
    responses: { 200: z.strictObject({ runs: z.array(CheckRunSummary) }) },
    async handle() {
      const runs = await sql<z.output<typeof CheckRunSummary>[]>`
        select distinct on (check_name) ${summary(sql)} from check_run order by check_name, created_at desc`
      return ok({ runs: [...runs] })
    },
  }),
]

const summary = (sql: Sql) => sql`
  id, check_name as check, parameters, state, checked, found, error, created_at, started_at, ended_at`

/** The run with these parameters that has not ended: a new one, unless somebody has asked for it before. */
async function askFor(sql: Sql, check: string, parameters: RunParameters): Promise<CheckRun> {
  const [run] = await sql<[CheckRun]>`
    insert into check_run (check_name, parameters) values (${check}, ${sql.json(parameters)})
    on conflict (check_name, parameters) where ended_at is null do update set parameters = excluded.parameters
    returning ${summary(sql)}, findings`
  return run
}
