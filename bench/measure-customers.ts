import postgres from 'postgres'
import { listCustomers } from '../services/orders/src/customers/list-customers.ts'
import type { Api } from './api.ts'
import { listLatency } from './list-latency.ts'
import type { Row } from './table.ts'

const CUSTOMERS = 1_000_000
const CHUNK = 50_000

interface Place {
  readonly api: Api
  readonly workspaceId: string
  readonly ordersUrl: string
  /** Connects as a superuser. */
  readonly postgresUrl: string
}

/** Measures lists of a workspace with a million customers, one at a time, beside the same SQL sent directly. */
export async function measureCustomers(place: Place): Promise<Row[]> {
  await seed(place)
  const middle = CUSTOMERS / 40
  const lists: [what: string, query: string, bound?: string][] = [
    ['page 1', ''],
    [`page ${middle}`, `page=${middle}`],
    ['last page', `page=${CUSTOMERS / 20}`],
    ['by name', 'sort_by=name'],
    [`by name, page ${middle}`, `sort_by=name&page=${middle}`],
    ['by updatedAt', 'sort_by=updatedAt'],
    ['email', 'email=First11.Last4711.404711@mail1.example.com'],
    ['query, one', 'query=404711'],
    ['query, 0.02 %', 'query=last4711'],
    ['query, 1 %', 'query=first71'],
    ['query, 20 %', 'query=mail3'],
    ['query, 20 %, by name', 'query=mail3&sort_by=name'],
    ['query, one letter, all', 'query=f'],
    ['query, all', 'query=com'],
    ['query, all, by name', 'query=com&sort_by=name'],
    ['query, all, last page', `query=com&page=${CUSTOMERS / 20}`],
    ['query, first and last name', 'query=first11%20last4711'],
    ['query, 1 % and all', 'query=first71%20com'],
    ['query, an e-mail address', 'query=first11.last4711.404711@mail1.example.com'],
  ]
  const rows: Row[] = []
  for (const [what, query, bound = 'p99 ≤ 50 ms'] of lists) rows.push(await measureList(place, what, query, bound))
  return rows
}

async function measureList({ postgresUrl: _, ordersUrl, ...place }: Place, what: string, query: string, bound: string) {
  const list = { ...place, databaseUrl: ordersUrl, operation: listCustomers, path: '/v1/customers', query }
  return { name: `list of 1,000,000 customers: ${what}`, ...(await listLatency(list)), bound }
}

/** Fills the workspace: one customer came each second up to now, and each was changed once since, in another order. */
async function seed({ workspaceId, postgresUrl }: Place): Promise<void> {
  const sql = postgres(postgresUrl, { max: 1, onnotice: () => undefined, connection: { search_path: 'orders' } })
  const end = new Date()
  for (let from = 0; from < CUSTOMERS; from += CHUNK) {
    await sql`
      insert into customer (workspace_id, id, firstname, lastname, email, created_at, updated_at)
      select ${workspaceId}, id, 'First' || first, 'Last' || last,
        format('first%s.last%s.%s@mail%s.example.com', first, last, n, n % 5), uuid_extract_timestamp(id),
        ${end}::timestamptz - (n::bigint * 7919 % ${CUSTOMERS}) * interval '1 s'
      from (
        select n, n % 100 as first, n % 5000 as last,
          uuidv7(${end}::timestamptz - clock_timestamp() - (${CUSTOMERS} - n) * interval '1 s') as id
        from generate_series(${from}::int, ${from + CHUNK - 1}::int) as n
      ) as numbered`
    await sql`select merge_customer_count(10000000)`
  }
  await sql.unsafe('vacuum analyze customer, customer_word, customer_count')
  await sql.end()
}
