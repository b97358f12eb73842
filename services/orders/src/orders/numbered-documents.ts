import { notFound } from '@backoffice/contracts/errors.ts'
import { ListQuery, Page } from '@backoffice/contracts/pagination.ts'
import { operation } from '@backoffice/http/operation.ts'
import { okCountedPage } from '@backoffice/http/paged-body.ts'
import { ok } from '@backoffice/http/reply.ts'
import type { SqlPart } from '@backoffice/postgres/comma-separated.ts'
import type { Transaction } from '@backoffice/postgres/database.ts'
import type { z } from 'zod'

/* Documents whose numbers are gap-free in a workspace: invoices and credit notes (OP-45, OP-203). */

/**
 * Part of a statement: takes the next number of a series, as `last`, where it `isWanted`. A rollback gives it back. The
 * workspace's counter is locked until the transaction ends. An id that is drawn beside `last` has its order, as lists
 * have.
 */
export const nextNumber = (tx: Transaction, counter: string, isWanted: SqlPart): SqlPart => tx`
  insert into ${tx(counter)} as counter (workspace_id, last)
  select ${tx.context.workspaceId}::uuid, 1 where ${isWanted}
  on conflict (workspace_id) do update set last = counter.last + 1
  returning last`

/** Where the documents of a kind are. */
interface Documents<Row> {
  /** `invoice`, as messages name one. */
  readonly noun: string
  readonly table: string
  readonly counter: string
  /** The columns of a Row. */
  readonly columns: string
  /** The shape of one. */
  readonly document: z.ZodType
  bodyOf(row: Row): unknown
}

interface Declared {
  readonly operationId: string
  readonly path: `/v1/${string}`
  readonly summary: string
  readonly openPoints: readonly string[]
}

/** Declares the list of a workspace's documents: newest first (OP-205). */
export const listDocuments = <Row extends object>(documents: Documents<Row>, declared: Declared) =>
  operation({
    ...declared,
    method: 'GET',
    scope: 'sale::read',
    query: ListQuery,
    responses: { 200: Page(documents.document) },
    extension: true,

    handle: ({ query, inWorkspace }) =>
      inWorkspace((tx) => {
        const { table, counter, columns, bodyOf } = documents
        const workspace = tx.context.workspaceId
        return okCountedPage<Row>(tx, query, {
          columns: tx.unsafe(columns),
          source: tx`from ${tx(table)} where workspace_id = ${workspace}`,
          // The last number is their number: there is no gap, and none is deleted.
          count: tx`coalesce((select last from ${tx(counter)} where workspace_id = ${workspace}), 0)`,
          bytes: tx`octet_length(${tx(table)}::text)`,
          bodyOf,
        })
      }),
  })

/** Declares the operation that reads one document (OP-205). */
export const getDocument = <Row extends object>(
  documents: Documents<Row>,
  declared: Declared & { path: `${string}/{id}` },
) =>
  operation({
    ...declared,
    method: 'GET',
    scope: 'sale::read',
    responses: { 200: documents.document },
    extension: true,

    handle: ({ params: { id }, inWorkspace }) =>
      inWorkspace(async (tx) => {
        const { noun, table, columns, bodyOf } = documents
        const [row] = await tx<Row[]>`
          select ${tx.unsafe(columns)} from ${tx(table)} where workspace_id = ${tx.context.workspaceId} and id = ${id}`
        if (row === undefined) throw notFound(['id'], `this workspace has no ${noun} ${id}`)
        return ok(bodyOf(row))
      }),
  })
