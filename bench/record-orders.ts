import { openDatabase, type Transaction } from '@backoffice/postgres/database.ts'
import { createLogger } from '@backoffice/runtime/logger.ts'
import postgres from 'postgres'
import type { Catalog } from '../services/orders/src/catalog/catalog-client.ts'
import type { FormValidator } from '../services/orders/src/form/form-validator.ts'
import { orderCheck } from '../services/orders/src/form/order-check.ts'
import { createOrder } from '../services/orders/src/orders/create-order.ts'
import { OrderForm } from '../services/orders/src/orders/order-form.ts'
import { reserveStock } from '../services/orders/src/reservations/reserve-stock.ts'

export interface Statement {
  readonly text: string
  readonly parameters: unknown[]
}

interface Recording {
  /** Connects as orders. */
  readonly databaseUrl: string
  /** Connects as a superuser. */
  readonly postgresUrl: string
  /** A workspace without rows. The recorded rows are deleted. */
  readonly workspaceId: string
  /** Repeats earlier answers of the running catalog, which would refuse the token of the recording. */
  readonly catalog: Catalog
  readonly forms: readonly unknown[]
}

/** The transactions that create each order, recorded and then deleted, so that the statements can be sent again. */
export async function recordOrders({ databaseUrl, postgresUrl, workspaceId, catalog, forms }: Recording) {
  let statements: Statement[] = []
  const db = openDatabase({
    url: databaseUrl,
    applicationName: 'bench',
    onStatement: (text, parameters) => statements.push({ text, parameters }),
  })
  const context = { workspaceId, livemode: true, traceparent: '' }
  const logger = createLogger('bench', 'warn')
  const operation = createOrder(db, catalog, reserveStock(db, catalog, logger), orderCheck({} as FormValidator))
  const recorded: Statement[][][] = []
  for (const form of forms) {
    statements = []
    const input = {
      body: OrderForm.parse(form),
      sentBody: form,
      context,
      now: new Date(),
      inWorkspace: (work: (tx: Transaction) => Promise<unknown>) => db.inWorkspace(context, work),
      storedAnswer: async () => undefined,
    }
    await operation.handle(input as never)
    recorded.push(transactionsOf(statements))
  }
  await db.stop?.()
  await deleteRows(postgresUrl, workspaceId)
  return recorded
}

function transactionsOf(statements: readonly Statement[]): Statement[][] {
  const transactions: Statement[][] = []
  for (const statement of statements) {
    if (statement.text.startsWith('begin')) transactions.push([])
    transactions.at(-1)?.push(statement)
  }
  return transactions
}

async function deleteRows(postgresUrl: string, workspaceId: string): Promise<void> {
  const sql = postgres(postgresUrl, { max: 1, onnotice: () => undefined, connection: { search_path: 'orders' } })
  const tables = await sql<{ name: string }[]>`
    select table_name as name from information_schema.columns join information_schema.tables using (table_schema, table_name)
    where table_schema = 'orders' and column_name = 'workspace_id' and table_type = 'BASE TABLE'`
  // A trigger counts the deletion of orders, so the tables of counts come last.
  const deleted = tables.toSorted((a, b) => Number(a.name.startsWith('order_c')) - Number(b.name.startsWith('order_c')))
  for (const { name } of deleted) await sql`delete from ${sql(name)} where workspace_id = ${workspaceId}`
  await sql.end()
}
