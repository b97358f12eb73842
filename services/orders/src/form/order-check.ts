import type { Transaction } from '@backoffice/postgres/database.ts'
import { LRUCache } from 'lru-cache'
import type { FormValidator } from './form-validator.ts'

/** A workspace's order form; a `schema` of null was reset. */
interface FormSchema {
  readonly version: number
  /** JSON. */
  readonly schema: string | null
}

/**
 * Reads the form in force in the workspace, and returns the check of a submitted order against it, which may take long:
 * call it after the transaction. Undefined when the workspace has no form.
 */
export type CheckOrder = (tx: Transaction, order: unknown) => Promise<(() => Promise<void>) | undefined>

/** The characters of all schemas in memory. */
const KEPT = 8 * 1024 * 1024
const ROW_SIZE = 100

/**
 * Makes the check of orders (OP-41). The form is the one in force when the check begins, whichever replica changed it:
 * each check reads the version, and the schema only when its version is another than the one kept. The check throws
 * what `FormValidator.checkOrder` throws.
 */
export function orderCheck(validator: FormValidator): CheckOrder {
  const kept = new LRUCache<string, FormSchema>({
    maxSize: KEPT,
    sizeCalculation: ({ schema }) => ROW_SIZE + (schema?.length ?? 0),
  })

  async function schemaInForce(tx: Transaction): Promise<FormSchema | undefined> {
    const { workspaceId } = tx.context
    const known = kept.get(workspaceId)
    const [row] = await tx<FormSchema[]>`
      select version, case when version = ${known?.version ?? 0} then null else schema::text end as schema
      from order_form_schema where workspace_id = ${workspaceId}`
    if (row === undefined || row.version === known?.version) return known
    kept.set(workspaceId, row)
    return row
  }

  return async (tx, order) => {
    const { workspaceId } = tx.context
    const form = await schemaInForce(tx)
    const schema = form?.schema
    if (form === undefined || schema == null) return undefined
    return () => validator.checkOrder(workspaceId, form.version, schema, JSON.stringify(order))
  }
}
