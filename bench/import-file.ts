import { randomUUID } from 'node:crypto'
import { once } from 'node:events'
import { createWriteStream, openAsBlob } from 'node:fs'
import { setTimeout as pause } from 'node:timers/promises'
import type { Import, ImportStatus } from '@backoffice/contracts/import.ts'
import { FormData } from 'undici'
import type { Api } from './api.ts'

const LOOK_EVERY_MS = 50
const WITHIN_MS = 1_800_000

/** Writes a file of new simple products in the category `all`. All its SKUs are new. */
export async function writeProductsFile(path: string, rows: number): Promise<void> {
  const file = createWriteStream(path)
  file.write('sku,name,stock,price,categories\n')
  for (let row = 0; row < rows; row++) {
    const line = `${randomUUID()},Enamel mug ${row.toString(36)},4,NGN:450000;USD:300,all\n`
    if (!file.write(line)) await once(file, 'drain')
  }
  file.end()
  await once(file, 'finish')
}

/** An uploaded file, with the milliseconds from the answer to the upload until it was validated. */
export interface ValidatedFile {
  readonly id: string
  readonly rows: number
  readonly ms: number
}

/** Uploads a file of products and waits until all its rows are valid. */
export async function validateFile(api: Api, path: string): Promise<ValidatedFile> {
  const form = new FormData()
  form.append('template', 'products')
  form.append('file', await openAsBlob(path), 'products.csv')
  const { id } = await api.upload<Import>('/v1/imports', form)
  const startedAt = performance.now()
  const { total_rows: rows } = await untilStatus(api, id, 'VALIDATED', ['UPLOADED', 'VALIDATING'])
  return { id, rows, ms: performance.now() - startedAt }
}

/** Starts an import and waits until all its rows are applied. Returns the milliseconds. */
export async function applyImport(api: Api, id: string): Promise<number> {
  const startedAt = performance.now()
  await api.post(`/v1/imports/${id}/start`, undefined)
  await untilStatus(api, id, 'COMPLETED', ['IMPORTING'])
  return performance.now() - startedAt
}

async function untilStatus(api: Api, id: string, wanted: ImportStatus, passing: ImportStatus[]): Promise<Import> {
  const startedAt = performance.now()
  for (;;) {
    const found = await api.get<Import>(`/v1/imports/${id}`)
    if (found.status === wanted) return found
    if (!passing.includes(found.status)) throw new Error(`the import is ${found.status} instead of ${wanted}`)
    if (performance.now() - startedAt > WITHIN_MS) throw new Error(`the import is still ${found.status}`)
    await pause(LOOK_EVERY_MS)
  }
}
