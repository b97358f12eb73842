import type { Transaction } from '@backoffice/postgres/database.ts'
import type { ImportBatch } from './import-batches.ts'
import type { RowOutcomes } from './row-outcomes.ts'

/** Rows of a template to plan: a batch that is applied next, or rows that are only checked. */
export interface RowsToPlan extends Pick<ImportBatch, 'product_statuses' | 'rows'> {
  /** The plan of a check takes no lock and creates nothing. Its transaction is read-only. */
  readonly isCheck: boolean
  /** Keys of earlier rows of the file that count as applied in a check. A batch has none: its earlier rows are applied. */
  readonly earlier: readonly string[]
}

/** The rules of one template. A check follows the same ones as the batch that is applied later (decision 015). */
export interface Importer<Changes = unknown> {
  /**
   * Decides what each row does, records it in `outcomes`, and yields the changes that follow. It may yield several groups, each
   * of which is written before the next is read. Unless it is a check, it locks the rows that the changes are based on.
   */
  plan(tx: Transaction, rows: RowsToPlan, outcomes: RowOutcomes, now: Date): AsyncIterable<Changes>
  /** Writes changes of a plan. Imported rows fire no event (OP-72). */
  write(tx: Transaction, changes: Changes, now: Date): Promise<void>
}

/** The importers of a service, by the templates that it owns. */
export type Importers = Partial<Readonly<Record<ImportBatch['template'], Importer>>>
