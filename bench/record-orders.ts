import { openDatabase, type Transaction } from '@backoffice/postgres/database.ts'
import { createLogger } from '@backoffice/runtime/logger.ts'
import postgres from 'postgres'
import type { Catalog } from '../services/orders/src/catalog/catalog-client.ts'
import type { FormValidator } from '../services/orders/src/form/form-validator.ts'
import { orderCheck } from '../services/orders/src/form/order-check.ts'
import { createOrder } from '../services/orders/src/orders/create-order.ts'
import { OrderForm } from '../services/orders/src/orders/order-form.ts'
import { reserveStock } from '../services/orders/src/reservations/reserve-stock.ts'
import type { Statement } from './raw-sql.ts'

interface Recording {
  /** Connects as orders. */
  readonly databaseUrl: string
  readonly workspaceId: string
  /** Repeats earlier answers of the running catalog, which would refuse the token of the recording. */
  readonly catalog: Catalog
  readonly forms: readonly unknown[]
}

/** The transactions that create each order. The orders stay, so the statements are sent again in another workspace. */
export async function recordOrders({ databaseUrl, workspaceId, catalog, forms }: Recording) {
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
      expectBytes: async () => undefined,
    }
    await operation.handle(input as never)
    recorded.push(transactionsOf(statements))
  }
  await db.stop?.()
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

/** The customers of a workspace in another one too, with the same ids. */
export async function copyCustomers(postgresUrl: string, from: string, to: string): Promise<void> {
  const sql = postgres(postgresUrl, { max: 1, onnotice: () => undefined, connection: { search_path: 'orders' } })
  const columns = await sql<{ name: string }[]>`
    select column_name as name from information_schema.columns
    where table_schema = 'orders' and table_name = 'customer' and is_generated = 'NEVER' and column_name <> 'workspace_id'`
  const names = columns.map(({ name }) => name).join()
  const copy = `insert into customer (workspace_id, ${names}) select $2, ${names} from customer where workspace_id = $1`
  await sql.unsafe(copy, [from, to])
  await sql.end()
}
