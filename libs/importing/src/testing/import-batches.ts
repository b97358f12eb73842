import { randomUUID } from 'node:crypto'
import { TOPICS } from '@backoffice/contracts/events.ts'
import type { ImportResult, Template } from '@backoffice/contracts/imports.ts'
import { PRODUCT_STATUSES } from '@backoffice/contracts/product.ts'
import { AGAIN } from '@backoffice/messaging/consumers/consumer-definition.ts'
import type { WorkspaceContext } from '@backoffice/postgres/database.ts'
import { inTransaction } from '@backoffice/postgres/transaction.ts'
import type { TestDatabase } from '@backoffice/testing/database.ts'
import type { importBatches } from '../import-batches.ts'

/** Whose import it is. */
type Importing = Pick<WorkspaceContext, 'workspaceId' | 'livemode'>

/** The members of a batch besides its rows; each has a default. */
export interface BatchDifferences {
  readonly importId?: string
  readonly batch?: number
  readonly statuses?: readonly string[]
}

/** A record of `imports.batches` with these rows, the first of which is row 2 of the spreadsheet. */
export const aBatch = (
  { workspaceId, livemode }: Importing,
  template: Template,
  rows: readonly object[],
  { importId = randomUUID(), batch = 0, statuses = PRODUCT_STATUSES }: BatchDifferences = {},
) => ({
  id: randomUUID(),
  type: `batch.${template}`,
  workspace_id: workspaceId,
  livemode,
  occurred_at: new Date().toISOString(),
  data: {
    import_id: importId,
    batch,
    template,
    product_statuses: statuses,
    rows: rows.map((values, index) => ({ row: index + 2, values })),
  },
})
export type BatchRecord = ReturnType<typeof aBatch>

/** A service's side of imports over a database, without Kafka around it. */
export function appliedBatches(
  { admin, db }: TestDatabase,
  { handle }: ReturnType<typeof importBatches>,
  noteProgress?: () => void,
) {
  const takeTransaction = async (record: BatchRecord): Promise<boolean> => {
    const key = record.data.import_id
    const received = { topic: TOPICS.importsBatches, partition: 0, offset: '0', key, traceparent: undefined }
    const committed = await inTransaction(db.sql, (tx) => handle([{ ...received, value: record }], tx, noteProgress))
    return committed?.() === AGAIN
  }
  const apply = async (record: BatchRecord): Promise<ImportResult['rows']> => {
    const { import_id, batch } = record.data
    while (await takeTransaction(record));
    const answers = await answersOf(admin, import_id)
    return answers.find((answer) => answer.batch === batch)?.rows ?? []
  }
  return {
    apply,
    /** Takes one transaction. Returns whether the batch takes a further one. */
    takeTransaction,
    /** Applies these rows as one batch and returns what became of each. */
    run: (caller: Importing, template: Template, rows: readonly object[], differences?: BatchDifferences) =>
      apply(aBatch(caller, template, rows, differences)),

    /** The statuses of the rows, and of a failed one the column, code and message. */
    async outcomes(caller: Importing, template: Template, rows: readonly object[], differences?: BatchDifferences) {
      const results = await apply(aBatch(caller, template, rows, differences))
      return results.map(({ status, errors: [error] }) =>
        error === undefined ? status : `${error.column} ${error.code}: ${error.message}`,
      )
    },
  }
}

/** The answers to an import, in their order. */
export async function answersOf(admin: TestDatabase['admin'], importId: string): Promise<ImportResult[]> {
  const rows = await admin<{ payload: ImportResult }[]>`
    select payload from outbox where topic = ${TOPICS.importsResults} and key = ${importId} order by id`
  return rows.map(({ payload }) => payload)
}
