import { BatchResults } from '@backoffice/contracts/batches.ts'
import type { ErrorReason } from '@backoffice/contracts/errors.ts'
import { LIMITS } from '@backoffice/contracts/limits.ts'
import { anyShownAs, exampleOf, namedObject } from '@backoffice/contracts/named.ts'
import type { Scope } from '@backoffice/contracts/scopes.ts'
import { validate } from '@backoffice/contracts/validation.ts'
import type { RequestContext } from '@backoffice/http/internal-token.ts'
import { operation } from '@backoffice/http/operation.ts'
import { ok } from '@backoffice/http/reply.ts'
import type { Transaction } from '@backoffice/postgres/database.ts'
import { z } from 'zod'
import { type Row, type RowKey, RowOutcomes } from './row-outcomes.ts'
import { requestThrottle } from './throttle.ts'

/** A row as it was sent. */
export type SentRow = Readonly<Record<string, unknown>>

/** How the rows of one request are planned and written, as those of an import are (`Importer`). */
export interface BatchWriter<Changes> {
  plan(tx: Transaction, rows: readonly Row<SentRow>[], outcomes: RowOutcomes, now: Date): AsyncIterable<Changes>
  write(tx: Transaction, changes: Changes, now: Date): Promise<void>
}

interface BatchDeclaration<Changes> {
  /** `/v1/products/batch` */
  readonly path: `/v1/${string}/batch`
  readonly operationId: string
  readonly summary: string
  readonly scope: Scope
  readonly openPoints: readonly string[]
  readonly events: readonly string[]
  /** The name of the body's schema. */
  readonly name: string
  /** A row as the document shows it. Each is validated by itself. */
  readonly row: z.ZodObject
  /** What a row is known by: of rows that share one, the first counts. */
  readonly keysOf: (row: SentRow) => readonly RowKey[]
  readonly writer: (context: RequestContext) => BatchWriter<Changes>
}

/** About what a row holds in memory until the answer: a workspace has one large batch under way, a replica two. */
const ROW_BYTES = 4096

/** Declares an operation that applies up to 1,000 rows in one transaction, each by itself (OP-275, OP-276). */
export const batchOperation = <Changes>({ name, row, keysOf, writer, ...access }: BatchDeclaration<Changes>) =>
  operation({
    ...access,
    method: 'POST',
    extension: true,
    body: namedObject(
      name,
      { rows: z.array(anyShownAs(row)).min(1).max(LIMITS.idsPerCall) },
      { rows: [exampleOf(row)] },
    ),
    responses: { 200: BatchResults },

    async handle({ body: { rows }, context, now, inWorkspace, expectBytes }) {
      await expectBytes(rows.length * ROW_BYTES)
      return inWorkspace(async (tx) => {
        const outcomes = new RowOutcomes(requestThrottle(), (index) => `rows[${index}]`)
        const { plan, write } = writer(context)
        const objects = await outcomes.attempts(
          rows.map((sent, row) => ({ row, values: {}, sent })),
          ({ row, sent }) => ({ row, values: validate(AnyObject, sent, 'row') }),
        )
        for await (const changes of plan(tx, outcomes.firstOf(objects, keysOf), outcomes, now)) {
          await write(tx, changes, now)
        }
        return ok({ results: outcomes.results(rows.length, context.requestId) })
      })
    },
  })

const AnyObject = z.looseObject({})

/** The key of a row by one of its members; rows without it have none. `reason` refuses a later row with the key. */
export const keyBy =
  (member: string, reason: ErrorReason<'conflict'>, normalised: (key: string) => string = (key) => key) =>
  (row: SentRow): RowKey[] => {
    const key = row[member]
    return typeof key === 'string' ? [{ path: [member], key: normalised(key), reason }] : []
  }
