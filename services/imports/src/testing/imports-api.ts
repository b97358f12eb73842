import { mkdtemp, readdir, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Import, ImportStatus } from '@backoffice/contracts/import.ts'
import type { Caller } from '@backoffice/http/internal-token.ts'
import { createLogger } from '@backoffice/runtime/logger.ts'
import { retry } from '@backoffice/runtime/retry.ts'
import { localStorage } from '@backoffice/storage/local-storage.ts'
import { STORED_BYTES } from '@backoffice/storage/stored-bytes.ts'
import { testDatabase } from '@backoffice/testing/database.ts'
import { aFile, FORM, form } from '@backoffice/testing/form.ts'
import { serviceClient } from '@backoffice/testing/service-client.ts'
import { whenDone } from '@backoffice/testing/when-done.ts'
import { operations } from '../operations.ts'

/** Runs the operations without workers, so that an import keeps its state until a test changes it. */
export async function importsApi({ storedBytes = STORED_BYTES } = {}) {
  const directory = await mkdtemp(join(tmpdir(), 'imports-'))
  whenDone(() => rm(directory, { recursive: true }))
  const storage = localStorage({ name: 'imports', directory })
  await storage.start?.()
  const { admin, db, takeStatements } = await testDatabase('imports')
  const woken: string[] = []
  const wake = {
    validation: () => void woken.push('validation'),
    batches: () => void woken.push('batches'),
    undos: () => void woken.push('undos'),
  }
  const logger = createLogger('test', 'silent')
  const declared = operations({ db, storage, storedBytes, logger }, wake, {
    images: async () => Promise.reject(new Error('no owner')),
  })
  const send = serviceClient(db, declared)

  const upload = <Body = Import>(
    caller: Caller,
    body = productsForm('sku\nA\n'),
    headers: Record<string, string> = {},
  ) => send<Body>(caller, 'POST', '/v1/imports', body, { 'content-type': FORM, ...headers })
  return {
    admin,
    db,
    declared,
    storage,
    send,
    takeStatements,
    upload,
    /** Returns which workers were woken since the last call. */
    takeWoken: () => woken.splice(0),
    /** The stored files of a workspace, and all files that are being received. */
    async files({ workspaceId }: Caller): Promise<string[]> {
      // A folder may go while it is read.
      const found = await retry(
        () => readdir(directory, { recursive: true, withFileTypes: true }),
        (error) => ((error as NodeJS.ErrnoException).code === 'ENOENT' ? 10 : undefined),
      )
      const paths = found.filter((entry) => entry.isFile()).map((entry) => join(entry.parentPath, entry.name))
      return paths.filter((path) => path.includes(workspaceId) || path.startsWith(storage.incoming))
    },
    /** Uploads a file and puts its import into a state, with these numbers. */
    async importIn(status: ImportStatus, caller: Caller, { valid = 0, invalid = 0 } = {}): Promise<string> {
      const { id } = (await upload(caller)).body
      await admin`
        update import set
          status = ${status}, total_rows = ${valid + invalid}, valid_rows = ${valid}, invalid_rows = ${invalid}, batches = 1,
          claim = uuidv7()
        where id = ${id}`
      return id
    },
  }
}

/** The form of an upload of products. */
export const productsForm = (content: string | Buffer, fileName = 'products.csv'): Buffer =>
  form({ name: 'template', content: 'products' }, aFile(content, { fileName, type: 'text/csv' }))
