import { join } from 'node:path'
import { Readable } from 'node:stream'
import { conflict } from '@backoffice/contracts/errors.ts'
import { KnownCurrency } from '@backoffice/contracts/fields.ts'
import { Import } from '@backoffice/contracts/import.ts'
import { TEMPLATES } from '@backoffice/contracts/imports.ts'
import { LIMITS } from '@backoffice/contracts/limits.ts'
import { type AnyOperation, operation } from '@backoffice/http/operation.ts'
import { accepted } from '@backoffice/http/reply.ts'
import type { UploadedFile } from '@backoffice/http/upload.ts'
import type { Transaction } from '@backoffice/postgres/database.ts'
import { newId } from '@backoffice/runtime/clock.ts'
import { receive } from '@backoffice/storage/incoming-files.ts'
import { storedUploads, type Uploading } from '@backoffice/storage/stored-uploads.ts'
import { z } from 'zod'
import { uploadPath } from '../files/file-paths.ts'
import { HEAD_BYTES, refuseBinary } from '../files/refuse-binary.ts'
import { encodingDetector } from '../files/text-encoding.ts'
import { IMPORTS_TO_VALIDATE } from './import-limits.ts'
import { type ImportRow, importBody, importColumns } from './import-row.ts'

const KNOWN = `one of ${TEMPLATES.join(', ')}`
const UploadForm = z
  .strictObject({
    template: z.enum(TEMPLATES, {
      error: ({ input }) =>
        input === undefined ? `is missing; send it before the file: ${KNOWN}` : `must be ${KNOWN}`,
    }),
    currency: KnownCurrency.optional(),
  })
  .meta({ examples: [{ template: 'stock' }] })

/** Each upload has a file of up to 1 GiB on the disk, for which k8s/base/imports has room. */
export const UPLOADS = { slots: 32, share: 2, most: 8 }

/** POST /v1/imports (extension of OP-50). `onUploaded` is called after the commit. */
export function uploadImport(uploading: Uploading, onUploaded: () => void): AnyOperation {
  const take = storedUploads(uploading, UPLOADS, (tx) => refuseTooManyWaiting(tx, 1))
  return operation({
    operationId: 'uploadImport',
    method: 'POST',
    path: '/v1/imports',
    summary: 'Upload a CSV file and validate it',
    scope: 'import::create',
    body: UploadForm,
    upload: { member: 'file', maxBytes: LIMITS.importBytes, example: 'sku,stock\nLINEN-M,5\nLINEN-L,7\n' },
    responses: { 202: Import },
    openPoints: [
      'OP-07',
      'OP-08',
      'OP-21',
      'OP-50',
      'OP-54',
      'OP-146',
      'OP-150',
      'OP-185',
      'OP-186',
      'OP-187',
      'OP-188',
      'OP-55',
      'OP-119',
      'OP-190',
      'OP-278',
      'OP-279',
    ],
    extension: true,

    handle: (input) =>
      take(input, async (folder) => {
        const { body, file, context } = input
        const { path, ...text } = await receiveText(file, folder)
        const id = newId()
        const stored = uploadPath({ workspaceId: context.workspaceId, id })
        await uploading.storage.put(stored, path, 'text/csv')
        return {
          paths: [stored],
          async insert(tx) {
            const inserted = await insertImport(tx, text, id, body, context.productStatuses)
            return accepted(importBody(inserted))
          },
          onCommitted: onUploaded,
        }
      }),
  })
}

/** Receives a file into a folder. Throws for a file that is empty or no text. */
async function receiveText(file: UploadedFile, folder: string) {
  const path = join(folder, 'upload')
  const detector = encodingDetector()
  const detected = Readable.from(detector.passed(file.content), { objectMode: false })
  const { size, head } = await receive(detected, path, HEAD_BYTES)
  await refuseBinary(head, file.name)
  return { path, name: shownName(file.name), bytes: size, sha256: file.digest(), encoding: detector.encoding() }
}

/** The client's name of a file, without folders and control characters. */
function shownName(name: string): string {
  const [base = ''] = name.split(/[/\\]/).slice(-1)
  return base.replaceAll(/\p{C}/gu, '').slice(0, LIMITS.nameLength).toWellFormed() || 'upload.csv'
}

/**
 * Writes the row, which names an import that does the same (OP-146). Waiting files are counted with this one, since
 * writing the row has locked `stored_bytes` of the workspace.
 */
async function insertImport(
  tx: Transaction,
  { name, bytes, sha256, encoding }: Omit<Awaited<ReturnType<typeof receiveText>>, 'path'>,
  id: string,
  { template, currency }: z.output<typeof UploadForm>,
  statuses: readonly string[],
): Promise<ImportRow> {
  const { workspaceId, livemode } = tx.context
  const [row] = await tx<ImportRow[]>`
    insert into import (
      workspace_id, id, template, file, bytes, sha256, encoding, currency, livemode, product_statuses, status, same_as, created_at, updated_at
    )
    values (
      ${workspaceId}, ${id}, ${template}, ${name}, ${bytes}, ${sha256}, ${encoding}, ${currency ?? null}, ${livemode},
      ${statuses as string[]}, 'UPLOADED',
      (
        select id from import
        where workspace_id = ${workspaceId} and sha256 = ${sha256} and created_at > now() - interval '24 hours'
          and template = ${template} and currency is not distinct from ${currency ?? null}
        order by created_at desc limit 1
      ),
      now(), now()
    )
    returning ${importColumns(tx)}`
  await refuseTooManyWaiting(tx)
  return row as ImportRow
}

/** Throws `conflict` when too many files of the workspace, and `more`, wait to be validated. */
async function refuseTooManyWaiting(tx: Transaction, more = 0): Promise<void> {
  const [waiting] = await tx<[{ count: number }]>`${IMPORTS_TO_VALIDATE.used(tx)}`
  if (waiting.count + more <= IMPORTS_TO_VALIDATE.most) return
  throw conflict(
    ['file'],
    `${IMPORTS_TO_VALIDATE.most} files of this workspace wait to be validated; upload it when they are`,
    'limit_reached',
  )
}
