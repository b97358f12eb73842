import { randomUUID } from 'node:crypto'
import type { ErrorBody } from '@backoffice/contracts/errors.ts'
import type { Import } from '@backoffice/contracts/import.ts'
import { aCaller } from '@backoffice/testing/caller.ts'
import { serviceClient } from '@backoffice/testing/service-client.ts'
import { beforeEach, expect, it } from 'vitest'
import { importsApi } from '../testing/imports-api.ts'

const { admin, db, declared, importIn, send } = await importsApi()
let caller = aCaller()

beforeEach(() => {
  caller = aCaller()
})

const cancel = <Body = Import>(id: string) => send<Body>(caller, 'POST', `/v1/imports/${id}/cancel`)

it.each(['UPLOADED', 'VALIDATING', 'VALIDATED', 'INVALID'] as const)(
  'ends an import that is %s at once, and answers 202 with it (OP-50)',
  async (before) => {
    const id = await importIn(before, caller, { valid: 1, invalid: 1 })
    const { status, body } = await cancel(id)
    expect([status, body]).toMatchObject([202, { id, status: 'CANCELLED', total_rows: 2, processed_rows: 0 }])
    expect(await admin`select ended_at is not null as is_ended from import where id = ${id}`).toEqual([
      { is_ended: true },
    ])
    expect(await admin`select from outbox where key = ${id}`).toEqual([])
  },
)

it('changes nothing when it comes again', async () => {
  const id = await importIn('VALIDATED', caller, { valid: 1 })
  const [first, again] = [await cancel(id), await cancel(id)]
  expect(again).toMatchObject({ status: 202, body: first.body })
})

it('of an import that is being applied publishes no further batch, and ends with the answer to the last one', async () => {
  const id = await importIn('IMPORTING', caller, { valid: 5 })
  await admin`
    update import set started_at = now(), batches = 5, ends_at_batch = 5, next_batch = 2, answered_batches = 1 where id = ${id}`
  expect((await cancel(id)).body.status).toBe('CANCELLED')
  expect(await admin`select ends_at_batch, ended_at from import where id = ${id}`).toEqual([
    { ends_at_batch: 2, ended_at: null },
  ])
})

it('publishes import.completed at once when no batch of a started import is under way (OP-72)', async () => {
  const id = await importIn('IMPORTING', caller, { valid: 5 })
  await admin`
    update import set started_at = now(), batches = 5, ends_at_batch = 5, next_batch = 2, answered_batches = 2, created = 2
    where id = ${id}`
  await cancel(id)
  const summary = { total_rows: 5, valid_rows: 5, invalid_rows: 0, created: 2, updated: 0, failed: 0 }
  expect(await admin`select type, payload from outbox where key = ${id}`).toEqual([
    { type: 'import.completed', payload: { id, template: 'products', status: 'CANCELLED', summary } },
  ])
})

it.each(['COMPLETED', 'COMPLETED_WITH_ERRORS', 'FAILED'] as const)(
  'refuses with conflict when it is %s',
  async (before) => {
    const { status, body } = await cancel<ErrorBody>(await importIn(before, caller))
    expect([status, body.error.message]).toEqual([409, `status: is ${before}; the import has ended`])
  },
)

it('is not_found for an unknown import and for one of another workspace', async () => {
  const elsewhere = await importIn('VALIDATED', aCaller(), { valid: 1 })
  for (const id of [randomUUID(), elsewhere]) {
    const { status, body } = await cancel<ErrorBody>(id)
    expect([status, body.error.code]).toEqual([404, 'not_found'])
  }
  expect(await admin`select status from import where id = ${elsewhere}`).toEqual([{ status: 'VALIDATED' }])
})

it('needs the scope import::create', async () => {
  const id = await importIn('VALIDATED', caller, { valid: 1 })
  caller = { ...caller, scopes: ['import::read'] }
  expect((await cancel(id)).status).toBe(403)
})

it('the times of an import are the database’s, by which its files are kept: a replica a month behind cancels it now', async () => {
  const id = await importIn('IMPORTING', caller, { valid: 1 })
  const monthAgo = new Date(Date.now() - 31 * 86_400_000)
  const behind = serviceClient(db, declared, () => monthAgo)
  expect((await behind(caller, 'POST', `/v1/imports/${id}/cancel`)).status).toBe(202)
  const [row] = await admin`
    select updated_at > now() - interval '1 day' as "isKept" from import where id = ${id}`
  expect(row).toEqual({ isKept: true })
})
