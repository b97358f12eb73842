import { unprocessable } from '@backoffice/contracts/errors.ts'
import { Id } from '@backoffice/contracts/fields.ts'
import { ImportCheck } from '@backoffice/contracts/imports.ts'
import type { Transaction } from '@backoffice/postgres/database.ts'
import { z } from 'zod'
import type { RowOutcomes } from './row-outcomes.ts'

/** A batch. The values of a row are validated later, so that a bad row fails alone. */
export const ImportBatch = ImportCheck.omit({ earlier: true, in_parts: true }).extend({ import_id: Id, batch: z.int() })
export type ImportBatch = z.output<typeof ImportBatch>

/** Rows of a template to plan: a batch that is applied next, or rows that are only checked. */
export interface RowsToPlan extends Pick<ImportBatch, 'product_statuses' | 'rows'> {
  /** The plan of a check takes no lock and creates nothing. Its transaction is read-only. */
  readonly isCheck: boolean
  /** Keys of earlier rows that a check treats as applied. Empty for a batch, whose earlier rows are applied already. */
  readonly earlier: readonly string[]
  /** The import whose batch it is; undefined for a check. */
  readonly importId?: string
}

/** The rules of one template. A check follows the same ones as the batch that is applied later (decision 015). */
export interface Importer<Changes = unknown> {
  /**
   * Decides what each row does, records it in `outcomes`, and yields the changes that follow. It may yield several
   * groups, each of which is written before the next is read. Unless it is a check, it locks the rows that the changes
   * are based on. Rows of a batch that it records nothing of are planned again in a next transaction.
   */
  plan(tx: Transaction, rows: RowsToPlan, outcomes: RowOutcomes, now: Date): AsyncIterable<Changes>
  /** Writes changes of a plan. Imported rows fire no event (OP-72). */
  write(tx: Transaction, changes: Changes, now: Date): Promise<void>
  readonly undo: ImportUndo<Changes>
}

/** A resource that an import created or updated. */
export interface ImportedChange {
  readonly id: string
  /** What rows of the template call it, such as its SKU. */
  readonly key: string
  /** The values that the import changed, by name, as they were; null for a resource that it created. */
  readonly former: Readonly<Record<string, unknown>> | null
  /** Texts that differ after each change of the resource; null before it was created. */
  readonly version_before: string | null
  readonly version_after: string
}

/** A resource to undo. */
export interface UndoneChange extends Pick<ImportedChange, 'id' | 'key' | 'former'> {
  /** The resource's version as the import left it; null when somebody else changed it between two batches. */
  readonly version: string | null
}

/** What became of a resource. One that is kept has a reason for the workspace's users. */
export type UndoOutcome =
  | { readonly outcome: 'deleted' }
  /** `version` is the new one, where versions are no values. */
  | { readonly outcome: 'restored'; readonly version?: string }
  | { readonly outcome: 'kept'; readonly reason: string }

/** How an import of one template is undone (OP-151). */
export interface ImportUndo<Changes = unknown> {
  /** What comes first: the deletion of created resources, or the restoration of updated ones. */
  readonly order: 'CREATED_FIRST' | 'UPDATED_FIRST'
  /** The changes to store for an undo: one for each created or updated resource. */
  kept(changes: Changes): readonly ImportedChange[]
  /**
   * Deletes created resources and gives updated ones their former values, unless somebody changed them since. Locks
   * them in id order. Returns the outcomes in the order of the changes, and fewer of them when the rest is too much for
   * one transaction.
   */
  undo(tx: Transaction, changes: readonly UndoneChange[], now: Date, importId: string): Promise<UndoOutcome[]>
}

/** The importers of a service, by the templates that it owns. */
export type Importers = Partial<Readonly<Record<ImportBatch['template'], Importer>>>

/** The importer of a template. Throws `unprocessable` for a template of another service. */
export function importerOf(importers: Importers, template: ImportBatch['template']): Importer {
  const importer = importers[template]
  if (importer === undefined) throw unprocessable(['template'], `"${template}" belongs to another service`)
  return importer
}
