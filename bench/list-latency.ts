import type { AnyOperation } from '@backoffice/http/operation.ts'
import { openDatabase, type Transaction } from '@backoffice/postgres/database.ts'
import type { Api } from './api.ts'
import { closedLoop } from './load.ts'
import { rawSender } from './raw-sql.ts'
import type { Row } from './table.ts'

const [WARM_UP, REQUESTS] = [10, 100]

type Statements = Parameters<ReturnType<typeof rawSender>['send']>[0]

/** A list of a workspace. */
export interface List {
  readonly operation: AnyOperation
  readonly workspaceId: string
  /** Calls the gateway for the workspace. */
  readonly api: Api
  /** Connects as the service's role. */
  readonly databaseUrl: string
  /** The statement with its parameters filled in. */
  readonly path: string
  readonly params?: Readonly<Record<string, string>>
  readonly query: string
}

/** The latency of pages of a list, one at a time, beside the same SQL sent directly. */
export async function listLatency({
  api,
  databaseUrl,
  path,
  query,
  ...list
}: List): Promise<Omit<Row, 'name' | 'bound'>> {
  const send = () => api.get(`${path}?${query}`)
  await closedLoop(WARM_UP, 1, send)
  const load = await closedLoop(REQUESTS, 1, send)
  const statements = await recordList(databaseUrl, query, list)
  const raw = rawSender(databaseUrl, 1)
  await closedLoop(WARM_UP, 1, () => raw.send(statements))
  const floor = await closedLoop(REQUESTS, 1, () => raw.send(statements))
  await raw.stop()
  return {
    measured: `p50 ${load.p50.toFixed(1)} ms, p99 ${load.p99.toFixed(1)} ms`,
    floor: `p99 ${floor.p99.toFixed(1)} ms`,
    ratio: load.p99 / floor.p99,
  }
}

/** The statements of one list. */
async function recordList(
  url: string,
  query: string,
  { operation, workspaceId, params }: Pick<List, 'operation' | 'workspaceId' | 'params'>,
): Promise<Statements> {
  const statements: Statements[number][] = []
  const db = openDatabase({
    url,
    applicationName: 'bench',
    onStatement: (text, parameters) => statements.push({ text, parameters }),
  })
  const input = {
    params,
    query: operation.query?.parse(Object.fromEntries(new URLSearchParams(query))),
    inWorkspace: (work: (tx: Transaction) => Promise<unknown>) =>
      db.inWorkspace({ workspaceId, livemode: true, traceparent: '' }, work),
  }
  await operation.handle(input as never)
  await db.stop?.()
  return statements
}
