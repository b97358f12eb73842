import { randomUUID } from 'node:crypto'
import { mkdir, mkdtemp, readdir, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import type { ImportStatus } from '@backoffice/contracts/import.ts'
import type { ImportResult } from '@backoffice/contracts/imports.ts'
import { PRODUCT_STATUSES } from '@backoffice/contracts/product.ts'
import type { ConsumerDefinition } from '@backoffice/messaging/consumers/consumer-definition.ts'
import { openDatabase } from '@backoffice/postgres/database.ts'
import { inTransaction } from '@backoffice/postgres/transaction.ts'
import { localStorage } from '@backoffice/storage/local-storage.ts'
import { testDatabase } from '@backoffice/testing/database.ts'
import { whenDone } from '@backoffice/testing/when-done.ts'
import { v7 as uuidv7 } from 'uuid'
import { findingPaths, folderOf, uploadPath } from '../files/file-paths.ts'

/** An import that a test put into the database. */
export interface StoredImport {
  readonly workspaceId: string
  readonly id: string
  readonly claim: string
  readonly livemode: boolean
}

/** What a test wants of an import; its batches have a row each. */
interface Wanted {
  readonly workspaceId?: string
  readonly batches?: number
  readonly columns?: Readonly<Record<string, unknown>>
}

/** A database and a storage without a service, and imports that are started unless their columns say otherwise. */
export async function storedImports() {
  const database = await testDatabase('imports')
  const { admin, db } = database
  const worker = openDatabase({ url: database.workerUrl, applicationName: 'test worker' })
  whenDone(() => worker.stop?.())
  const directory = await mkdtemp(join(tmpdir(), 'imports-'))
  whenDone(() => rm(directory, { recursive: true, force: true }))
  const storage = localStorage({ name: 'imports', directory })
  await storage.start?.()

  async function add({ workspaceId = randomUUID(), batches = 6, columns = {} }: Wanted = {}): Promise<StoredImport> {
    const [id, claim] = [uuidv7(), randomUUID()]
    const lines = Array.from({ length: batches }, (_, n) => `[{"row":${n + 2},"values":{"sku":"S-${n}","stock":1}}]\n`)
    const place = { workspaceId, id }
    for (const path of [uploadPath(place), ...findingPaths({ ...place, claim })]) {
      await mkdir(join(directory, dirname(path)), { recursive: true })
      await writeFile(join(directory, path), path.endsWith('.ndjson') ? lines.join('') : 'sku,stock\n')
    }
    const row = {
      ...{
        workspace_id: workspaceId,
        id,
        template: 'stock',
        file: 'rows.csv',
        bytes: 10,
        sha256: id,
        encoding: 'utf-8',
      },
      ...{ livemode: true, product_statuses: [...PRODUCT_STATUSES], status: 'IMPORTING' satisfies ImportStatus, claim },
      ...{ total_rows: batches, valid_rows: batches, batches, ends_at_batch: batches },
      ...{ started_at: new Date(), created_at: new Date(), updated_at: new Date(), ...columns },
    }
    await admin`insert into import ${admin(row)}`
    let first_byte = 0
    for (const [batch, { length: bytes }] of lines.entries()) {
      const place = { workspace_id: workspaceId, import_id: id, batch, first_byte, bytes, rows: 1 }
      await admin`insert into import_batch ${admin(place)}`
      first_byte += bytes
    }
    return { workspaceId, id, claim, livemode: row.livemode }
  }
  return {
    ...database,
    worker,
    storage,
    add,
    /** The columns of an import. */
    async columnsOf({ id }: { readonly id: string }) {
      const [row] = await admin`
        select *, created::integer, updated::integer, failed::integer from import where id = ${id}`
      return row
    },
    /** The batches of an import in the outbox, in their order. */
    async publishedOf({ id }: { readonly id: string }): Promise<number[]> {
      const records = await admin<{ batch: number }[]>`
        select (payload ->> 'batch')::integer as batch from outbox where topic = 'imports.batches' and key = ${id} order by id`
      return records.map(({ batch }) => batch)
    },
    /** The data of import.completed for an import. */
    async eventsOf({ id }: { readonly id: string }): Promise<unknown[]> {
      const events = await admin`select payload from outbox where topic = 'imports.events' and key = ${id}`
      return events.map(({ payload }) => payload)
    },
    /** The names of an import's files. */
    async filesOf(place: StoredImport): Promise<string[]> {
      return (await readdir(join(directory, folderOf(place))).catch(() => [])).sort()
    },
    /** Passes a record to a consumer, as it comes from Kafka. */
    async receive<Value>(consumer: ConsumerDefinition<Value>, value: Value): Promise<void> {
      const record = { topic: '', partition: 0, offset: '0', key: '', value, traceparent: undefined }
      await inTransaction(db.sql, (tx) => consumer.handle([record], tx))
    },
  }
}

/** The answer to a batch of one row. */
export const anAnswer = (
  { workspaceId, id, livemode }: Omit<StoredImport, 'claim'>,
  batch: number,
  status: ImportResult['rows'][number]['status'] = 'updated',
) => {
  const error = { column: 'sku', code: 'unprocessable', message: 'unknown', value: `S-${batch}` } as const
  const rows = [{ row: batch + 2, status, errors: status === 'failed' ? [error] : [] }]
  return { workspace_id: workspaceId, livemode, data: { import_id: id, batch, template: 'stock', rows } as const }
}
