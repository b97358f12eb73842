import { notFound } from '@backoffice/contracts/errors.ts'
import { Id, Timestamp } from '@backoffice/contracts/fields.ts'
import { ROUTED_SERVICES, type RoutedService } from '@backoffice/contracts/services.ts'
import { ok } from '@backoffice/http/reply.ts'
import type { Database } from '@backoffice/postgres/database.ts'
import { partsOf } from '@backoffice/runtime/parts-of.ts'
import { traceparentFrom } from '@backoffice/runtime/trace-context.ts'
import { WorkspaceRows } from '@backoffice/service/workspaces/get-rows.ts'
import { rowsOf } from '@backoffice/service/workspaces/workspace-tables.ts'
import { z } from 'zod'
import { type Asking, askedByOperator, askService } from '../../public/upstreams/ask-service.ts'
import { adminOperation } from '../admin-operation.ts'

/** Tables that a deletion leaves, with ids and paths: what operators did, and requests, which go after seven days. */
export const KEPT_TABLES = ['audit', 'request_log'] as const

/** What a service has left; null while it does not answer. */
const Left = z.strictObject({ service: z.string(), rows: z.int().nullable(), files: z.int().nullable() })
type Left = z.output<typeof Left>

/**
 * GET /admin/v1/workspaces/{id}/deletion (OP-86, decision 025): what each service still has of a deleted workspace and
 * its sandbox, counted now. `completed` when every service answers that it has nothing. Counts end at ten thousand of
 * each table. A sandbox is counted until the last pass of its deletion: resets may have replaced many (OP-287).
 */
export const getDeletion = adminOperation({
  method: 'GET',
  path: '/admin/v1/workspaces/{id}/deletion',
  summary: 'Read what is left of a deleted workspace',
  responses: {
    200: z.strictObject({ workspace: Id, requested_at: Timestamp, completed: z.boolean(), services: z.array(Left) }),
  },

  async handle({ params: { id }, worker, db, ...asking }) {
    const deletions = await worker<{ id: string; requested_at: Date }[]>`
      select id, requested_at from workspace_deletion
      where id = ${id} or parent = ${id} and exists (
        select from deleted_workspace where workspace_id = workspace_deletion.id and next_pass_at is not null
      )`
    const own = deletions.find((deletion) => deletion.id === id)
    if (own === undefined) throw notFound([], `The deletion of workspace ${id} was not asked for`)
    const ids = deletions.map((deletion) => deletion.id)
    return ok({ workspace: id, requested_at: own.requested_at, ...(await leftOf(ids, { db, ...asking })) })
  },
})

interface Counting extends Asking {
  readonly db: Database
  /** Whose slots it takes; those of operators unless given. */
  readonly owner?: string
}

/** What each service has left of deleted workspaces. */
export async function leftOf(ids: readonly string[], { db, ...asking }: Counting) {
  const services = await Promise.all([
    leftHere(db, ids),
    ...ROUTED_SERVICES.map((service) => leftIn(service, ids, asking)),
  ])
  return { completed: services.every(({ rows, files }) => rows === 0 && files === 0), services }
}

/** Workspaces counted at the same time: each reset of a sandbox adds one, and requests for all would find no slots. */
const CONCURRENCY = 4

async function ofEach<Result>(ids: readonly string[], count: (id: string) => Promise<Result>): Promise<Result[]> {
  const counted: Result[] = []
  for (const part of partsOf(ids, CONCURRENCY)) counted.push(...(await Promise.all(part.map(count))))
  return counted
}

const sum = (counts: readonly number[]): number => counts.reduce((total, count) => total + count, 0)

async function leftHere(db: Database, ids: readonly string[]): Promise<Left> {
  const counted = await ofEach(ids, (workspaceId) => {
    const context = { workspaceId, livemode: true, traceparent: traceparentFrom(undefined) }
    return db.inWorkspace(context, (tx) => rowsOf(tx, { keptTables: KEPT_TABLES }))
  })
  return { service: 'gateway', rows: sum(counted.flatMap((rows) => Object.values(rows))), files: 0 }
}

async function leftIn(service: RoutedService, ids: readonly string[], asking: Omit<Counting, 'db'>): Promise<Left> {
  try {
    const left = await ofEach(ids, (id) => ask(service, id, asking))
    const rows = sum(left.flatMap((each) => Object.values(each.rows)))
    return { service, rows, files: sum(left.map(({ files }) => files)) }
  } catch {
    return { service, rows: null, files: null }
  }
}

function ask(service: RoutedService, id: string, { owner, ...asking }: Omit<Counting, 'db'>) {
  const asked = {
    ...askedByOperator(id),
    ...(owner && { owner }),
    path: `/internal/workspaces/${id}/rows`,
    answer: WorkspaceRows,
  } as const
  return askService(service, asked, asking)
}
