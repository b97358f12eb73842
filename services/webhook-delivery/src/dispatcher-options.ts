import type { Connections } from '@backoffice/outbound/connections.ts'
import type { Sql } from '@backoffice/postgres/database.ts'
import type { DatabaseServer } from '@backoffice/postgres/database-server.ts'
import type { Logger } from '@backoffice/runtime/logger.ts'
import type { EndpointDirectory } from './endpoints/endpoint-directory.ts'

/** What the dispatcher is given. Its parts, in several folders, take what they need of it. */
export interface DispatcherOptions {
  /** Of the worker role. */
  readonly sql: Sql
  /** Connects as the worker role, to PostgreSQL itself: for the session that owns shards. */
  readonly server: DatabaseServer
  readonly directory: EndpointDirectory
  readonly agent: Connections
  readonly logger: Logger
  /** Delay before each attempt in milliseconds (spec: Retries 2). */
  readonly schedule: readonly number[]
  /** A 2xx counts only within this many milliseconds (spec: Retries 1). */
  readonly timeoutMs?: number
  readonly clock: () => Date
  /** Names this process among the living ones, by 31 bits. */
  readonly processNumber: number
  /** Called with the numbers of processes that were there and have gone without a word. */
  onDied(processNumbers: readonly number[]): void
  /** From 0 to 1. */
  readonly random?: () => number
}
