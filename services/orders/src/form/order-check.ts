import type { Database, WorkspaceContext } from '@backoffice/postgres/database.ts'
import { LRUCache } from 'lru-cache'
import type { FormValidator } from './form-validator.ts'

/** A workspace's order form; a `schema` of null was reset. */
interface FormSchema {
  readonly version: number
  /** JSON. */
  readonly schema: string | null
}

/** Checks a submitted order against the form in force in its workspace. */
export type CheckOrder = (context: WorkspaceContext, order: unknown) => Promise<void>

/** The characters of all schemas in memory. */
const KEPT = 8 * 1024 * 1024
const ROW_SIZE = 100

/**
 * Makes the check of orders (OP-41). The form is the one in force when the check begins, whichever replica changed it:
 * each check reads the version, and the schema only when its version is another than the one kept. Throws what
 * `FormValidator.checkOrder` throws.
 */
export function orderCheck(db: Database, validator: FormValidator): CheckOrder {
  const kept = new LRUCache<string, FormSchema>({
    maxSize: KEPT,
    sizeCalculation: ({ schema }) => ROW_SIZE + (schema?.length ?? 0),
  })

  async function schemaInForce(context: WorkspaceContext): Promise<FormSchema | undefined> {
    const { workspaceId } = context
    const known = kept.get(workspaceId)
    const [row] = await db.inWorkspace(
      context,
      (tx) => tx<FormSchema[]>`
        select version, case when version = ${known?.version ?? 0} then null else schema::text end as schema
        from order_form_schema where workspace_id = ${workspaceId}`,
    )
    if (row === undefined || row.version === known?.version) return known
    kept.set(workspaceId, row)
    return row
  }

  return async (context, order) => {
    const form = await schemaInForce(context)
    if (form?.schema == null) return
    await validator.checkOrder(context.workspaceId, form.version, form.schema, JSON.stringify(order))
  }
}
