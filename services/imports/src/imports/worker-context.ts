import type { Database } from '@backoffice/postgres/database.ts'
import type { Logger } from '@backoffice/runtime/logger.ts'
import type { FileStorage } from '@backoffice/storage/file-storage.ts'
import type { OwnerClient } from './owner-client.ts'

/** What the workers of the service use. `worker` connects as the worker role, `db` as the app role. */
export interface WorkerContext {
  readonly db: Database
  readonly worker: Database
  readonly storage: FileStorage
  readonly owners: OwnerClient
  readonly logger: Logger
}
