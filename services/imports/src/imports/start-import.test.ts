import { randomUUID } from 'node:crypto'
import type { ErrorBody } from '@backoffice/contracts/errors.ts'
import type { Import } from '@backoffice/contracts/import.ts'
import { aCaller } from '@backoffice/testing/caller.ts'
import { beforeEach, describe, expect, it } from 'vitest'
import { importsApi } from '../testing/imports-api.ts'

const { admin, importIn, send, takeWoken } = await importsApi()
let caller = aCaller()

beforeEach(() => {
  caller = aCaller()
  takeWoken()
})

const start = <Body = Import>(id: string, query = '', headers = {}) =>
  send<Body>(caller, 'POST', `/v1/imports/${id}/start${query}`, undefined, headers)

async function expectRefusal(id: string, query: string, status: number, message: string) {
  const before = await admin`select * from import where id = ${id}`
  takeWoken()
  const answer = await start<ErrorBody>(id, query)
  expect([answer.status, answer.body.error.message]).toEqual([status, message])
  expect([await admin`select * from import where id = ${id}`, takeWoken()]).toEqual([before, []])
}

it('starts a validated import with the statuses that the workspace uses now, and answers 202 with it (OP-50, OP-55)', async () => {
  const id = await importIn('VALIDATED', caller, { valid: 3 })
  caller = { ...caller, productStatuses: ['ACTIVE', 'HIDDEN'] }
  const { status, body } = await start(id)
  expect([status, body]).toMatchObject([202, { id, status: 'IMPORTING', total_rows: 3, processed_rows: 0 }])
  expect(await admin`select product_statuses, ends_at_batch from import where id = ${id}`).toEqual([
    { product_statuses: ['ACTIVE', 'HIDDEN'], ends_at_batch: 1 },
  ])
  expect(takeWoken()).toContain('batches')
})

describe('an INVALID import (OP-50)', () => {
  it('starts with ?skip_invalid=true', async () => {
    const id = await importIn('INVALID', caller, { valid: 1, invalid: 2 })
    expect(await start(id, '?skip_invalid=true')).toMatchObject({ status: 202, body: { status: 'IMPORTING' } })
  })

  it.each(['', '?skip_invalid=false'])('is unprocessable with %j', async (query) => {
    const id = await importIn('INVALID', caller, { valid: 1, invalid: 2 })
    const message =
      'status: is INVALID: 2 rows are bad; correct them, or start with ?skip_invalid=true to leave them out'
    await expectRefusal(id, query, 422, message)
  })

  it.each(['', '?skip_invalid=true'])('without a valid row is unprocessable, with %j too', async (query) => {
    const id = await importIn('INVALID', caller, { invalid: 2 })
    await expectRefusal(id, query, 422, 'status: is INVALID: the file has no valid row; correct it and upload it')
  })
})

it.each(['UPLOADED', 'VALIDATING'] as const)('refuses with conflict while it is %s', async (before) => {
  await expectRefusal(
    await importIn(before, caller),
    '',
    409,
    `status: is ${before}; start the import when it is VALIDATED`,
  )
})

it.each(['IMPORTING', 'COMPLETED', 'COMPLETED_WITH_ERRORS', 'FAILED', 'CANCELLED'] as const)(
  'refuses with conflict when it is %s',
  async (before) => {
    const id = await importIn(before, caller, { valid: 1 })
    await expectRefusal(id, '', 409, `status: is ${before}; an import starts once, from VALIDATED or INVALID`)
  },
)

it('starts once, also when it is asked several times at once', async () => {
  const id = await importIn('VALIDATED', caller, { valid: 1 })
  const answers = await Promise.all([1, 2, 3, 4].map(() => start(id)))
  expect(answers.map(({ status }) => status).sort()).toEqual([202, 409, 409, 409])
})

it('gives a repeated Idempotency-Key the first answer (OP-08)', async () => {
  const id = await importIn('VALIDATED', caller, { valid: 1 })
  const [first, again] = [
    await start(id, '', { 'idempotency-key': 'k' }),
    await start(id, '', { 'idempotency-key': 'k' }),
  ]
  expect([first.status, again.status, again.body]).toEqual([202, 202, first.body])
})

it('refuses another value of skip_invalid with bad_request', async () => {
  const id = await importIn('INVALID', caller, { valid: 1, invalid: 1 })
  const { status, body } = await start<ErrorBody>(id, '?skip_invalid=yes')
  expect([status, body.error.message]).toEqual([400, expect.stringContaining('skip_invalid')])
})

it('is not_found for an unknown import and for one of another workspace', async () => {
  const elsewhere = await importIn('VALIDATED', aCaller(), { valid: 1 })
  await expectRefusal(elsewhere, '', 404, `id: this workspace has no import ${elsewhere}`)
  expect((await start(randomUUID())).status).toBe(404)
})

it('needs the scope import::create', async () => {
  const id = await importIn('VALIDATED', caller, { valid: 1 })
  caller = { ...caller, scopes: ['import::read'] }
  expect((await start(id)).status).toBe(403)
})

it('is conflict while 100 imports of the workspace wait to be applied, also of several at once (OP-150)', async () => {
  const ids = await Promise.all(Array.from({ length: 6 }, () => importIn('VALIDATED', caller, { valid: 1 })))
  const [id = ''] = ids
  await admin`
    insert into import (
      workspace_id, id, template, file, bytes, sha256, encoding, livemode, product_statuses, status, created_at, updated_at, started_at
    )
    select workspace_id, uuidv7(), template, file, bytes, '', encoding, livemode, product_statuses, 'IMPORTING', now(), now(), now()
    from import, generate_series(1, 100) where id = ${id}`
  await expectRefusal(id, '', 409, 'status: is VALIDATED; 100 imports of this workspace wait already, start it later')
  await admin`
    update import set ended_at = now() where id in (
      select id from import where workspace_id = ${caller.workspaceId} and status = 'IMPORTING' limit 2
    )`
  const answers = await Promise.all(ids.map((each) => start(each)))
  expect(answers.map(({ status }) => status).sort()).toEqual([202, 202, 409, 409, 409, 409])
})
