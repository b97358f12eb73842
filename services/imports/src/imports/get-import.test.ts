import { randomUUID } from 'node:crypto'
import type { ErrorBody } from '@backoffice/contracts/errors.ts'
import type { Import } from '@backoffice/contracts/import.ts'
import { aCaller } from '@backoffice/testing/caller.ts'
import { serviceClient } from '@backoffice/testing/service-client.ts'
import { describe, expect, it } from 'vitest'
import { importsApi } from '../testing/imports-api.ts'
import { followImport } from './follow-import.ts'

const { admin, db, importIn, send } = await importsApi()

it('answers the import with its progress (OP-50, OP-51)', async () => {
  const caller = aCaller()
  const id = await importIn('IMPORTING', caller, { valid: 9, invalid: 1 })
  await admin`update import set created = 3, updated = 2, failed = 1 where id = ${id}`
  const { status, body } = await send<Import>(caller, 'GET', `/v1/imports/${id}`)
  expect([status, body]).toEqual([
    200,
    {
      id,
      template: 'products',
      file: 'products.csv',
      status: 'IMPORTING',
      total_rows: 10,
      processed_rows: 6,
      created_at: expect.any(String),
      updated_at: expect.any(String),
    },
  ])
})

it('a stream of progress ends after its time, and a client that connects again goes on (OP-149)', async () => {
  const caller = aCaller()
  const id = await importIn('IMPORTING', caller, { valid: 9 })
  const short = serviceClient(db, [followImport(db, 0)])
  for (const _ of ['first', 'again']) {
    const { body } = await short<string>(caller, 'GET', `/v1/imports/${id}/progress`)
    expect(body).toMatch(/^retry: 1000\n\nevent: progress\ndata: [^\n]*"IMPORTING"[^\n]*\n\n$/)
  }
})

describe.each(['', '/errors', '/diff'])('GET /v1/imports/{id}%s', (path) => {
  const get = (caller = aCaller(), id: string = randomUUID()) =>
    send<ErrorBody>(caller, 'GET', `/v1/imports/${id}${path}`)

  it('is not_found for an unknown import and for one of another workspace', async () => {
    const elsewhere = await importIn('VALIDATED', aCaller(), { valid: 1 })
    const caller = aCaller()
    for (const id of [randomUUID(), elsewhere]) {
      const { status, body } = await get(caller, id)
      expect([status, body.error.code]).toEqual([404, 'not_found'])
    }
  })

  it('is bad_request for an id that is none', async () => {
    expect((await get(aCaller(), 'x')).status).toBe(400)
  })

  it('needs the scope import::read', async () => {
    expect((await get(aCaller({ scopes: ['import::create'] }))).status).toBe(403)
  })
})
