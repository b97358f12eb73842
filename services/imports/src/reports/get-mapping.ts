import { conflict } from '@backoffice/contracts/errors.ts'
import { type AnyOperation, operation } from '@backoffice/http/operation.ts'
import { ok } from '@backoffice/http/reply.ts'
import type { Transaction } from '@backoffice/postgres/database.ts'
import type { z } from 'zod'
import { readBatches } from '../files/stored-rows.ts'
import { type Mapping, MappingAnswer, ROWS_SHOWN } from '../validation/mapping.ts'
import { findStored, type ImportFiles } from './stored-import.ts'

type ShownRow = z.output<typeof MappingAnswer>['rows'][number]

/** GET /v1/imports/{id}/mapping (extension, OP-280): what the file was read as, before it is applied. */
export const getMapping = ({ db, storage }: ImportFiles): AnyOperation =>
  operation({
    operationId: 'getImportMapping',
    method: 'GET',
    path: '/v1/imports/{id}/mapping',
    summary: 'Show what the columns of a file become, and its first rows',
    scope: 'import::read',
    responses: { 200: MappingAnswer },
    refusals: ['conflict'],
    openPoints: ['OP-280'],
    extension: true,

    async handle({ params: { id }, context }) {
      const { status, claim, mapping, bytes } = await db.inWorkspace(context, (tx) => findMapping(tx, id))
      if (claim === null || mapping === null) {
        throw conflict(['status'], `is ${status}; there is a mapping once the file is validated`)
      }
      const place = { workspaceId: context.workspaceId, id, claim }
      const [rows = []] = bytes === null ? [] : await readBatches<ShownRow>(storage, place, [{ first_byte: 0, bytes }])
      return ok({ ...mapping, rows: rows.slice(0, ROWS_SHOWN) })
    },
  })

/** The mapping of an import, and the bytes of its first batch; both are null until it is validated. */
async function findMapping(tx: Transaction, id: string) {
  const [found, [finding]] = await Promise.all([
    findStored(tx, id),
    tx<{ mapping: Mapping | null; bytes: number | null }[]>`
      select mapping, (
        select bytes from import_batch
        where workspace_id = ${tx.context.workspaceId} and import_id = ${id} and batch = 0
      ) as bytes
      from import_finding where workspace_id = ${tx.context.workspaceId} and import_id = ${id}`,
  ])
  return { ...found, mapping: finding?.mapping ?? null, bytes: finding?.bytes ?? null }
}
