import { randomUUID } from 'node:crypto'
import type { ErrorBody } from '@backoffice/contracts/errors.ts'
import type { ImportUndo } from '@backoffice/contracts/import.ts'
import { aCaller } from '@backoffice/testing/caller.ts'
import { beforeEach, expect, it } from 'vitest'
import { importsApi } from '../testing/imports-api.ts'

const { admin, importIn, send, takeWoken } = await importsApi()
let caller = aCaller()

beforeEach(() => {
  caller = aCaller()
})

const undo = <Body = ImportUndo>(id: string) => send<Body>(caller, 'POST', `/v1/imports/${id}/undo`)
const read = <Body = ImportUndo>(id: string) => send<Body>(caller, 'GET', `/v1/imports/${id}/undo`)

/** An import that was started, and ended so long ago. */
async function ended(ago = '0 hours', status: 'COMPLETED' | 'CANCELLED' = 'COMPLETED') {
  const id = await importIn(status, caller, { valid: 1 })
  await admin`update import set started_at = now(), ended_at = now() - ${ago}::interval where id = ${id}`
  return id
}
const nothingYet = { status: 'RUNNING', deleted: 0, restored: 0, kept: 0, rows: [] }

it.each(['COMPLETED', 'CANCELLED'] as const)(
  'answers 202 with the undo of an import that is %s (OP-151)',
  async (status) => {
    const id = await ended('23 hours 59 minutes', status)
    takeWoken()
    const answer = await undo(id)
    expect(answer).toMatchObject({ status: 202, body: { import_id: id, ...nothingYet } })
    expect(takeWoken()).toEqual(['undos'])
    expect((await read(id)).body).toEqual(answer.body)
    expect((await send<{ status: string }>(caller, 'GET', `/v1/imports/${id}`)).body.status).toBe(status)
  },
)

it('answers 202 for an import that was just cancelled, while a batch of it is under way', async () => {
  const id = await importIn('IMPORTING', caller, { valid: 1 })
  await admin`update import set started_at = now(), next_batch = 1 where id = ${id}`
  expect((await send(caller, 'POST', `/v1/imports/${id}/cancel`)).status).toBe(202)
  expect(await undo(id)).toMatchObject({ status: 202, body: { import_id: id, ...nothingYet } })
})

it('answers the same when it comes again, also at once and after 24 hours', async () => {
  const id = await ended()
  const answers = await Promise.all([undo(id), undo(id)])
  expect(answers[0].body).toEqual(answers[1].body)
  await admin`update import_undo set status = 'DONE', deleted = 3 where import_id = ${id}`
  await admin`update import set ended_at = now() - interval '25 hours' where id = ${id}`
  expect(await undo(id)).toMatchObject({ status: 202, body: { import_id: id, status: 'DONE', deleted: 3 } })
  expect(await admin`select from import_undo where import_id = ${id}`).toHaveLength(1)
})

it.each(['1 hour', '25 hours'])('lets an undo that FAILED go on, %s after the end of the import', async (ago) => {
  const id = await ended()
  await undo(id)
  await admin`update import set ended_at = now() - ${ago}::interval where id = ${id}`
  await admin`update import_undo set status = 'FAILED', failing_since = now(), deleted = 3 where import_id = ${id}`
  expect((await undo(id)).body).toMatchObject({ status: 'RUNNING', deleted: 3 })
})

it('refuses with conflict when the import ended more than 24 hours ago, by the clock of the database', async () => {
  const { status, body } = await undo<ErrorBody>(await ended('24 hours'))
  expect([status, body.error.message]).toEqual([409, 'id: the import ended more than 24 hours ago'])
})

it('refuses with conflict an import that was not started or has not ended', async () => {
  const messages: string[] = []
  for (const state of ['VALIDATED', 'CANCELLED', 'IMPORTING'] as const) {
    const id = await importIn(state, caller, { valid: 1 })
    if (state === 'IMPORTING') await admin`update import set started_at = now() where id = ${id}`
    else await admin`update import set ended_at = now() where id = ${id}`
    const { status, body } = await undo<ErrorBody>(id)
    expect(status).toBe(409)
    messages.push(body.error.message)
  }
  expect(messages).toEqual([
    'status: is VALIDATED; the import was not started, so there is nothing to undo',
    'status: is CANCELLED; the import was not started, so there is nothing to undo',
    'status: is IMPORTING; undo the import when it has ended, or cancel it first',
  ])
})

it('is not_found for an unknown import and for one of another workspace, and to read when it was not sent', async () => {
  const id = await ended()
  expect((await read(id)).status).toBe(404)
  caller = aCaller()
  for (const one of [randomUUID(), id]) {
    expect([(await undo(one)).status, (await read(one)).status]).toEqual([404, 404])
  }
  expect(await admin`select from import_undo where import_id = ${id}`).toHaveLength(0)
})

it('needs the scope import::create, and import::read to read it', async () => {
  const id = await ended()
  caller = { ...caller, scopes: ['import::read'] }
  expect([(await undo(id)).status, (await read(id)).status]).toEqual([403, 404])
  caller = { ...caller, scopes: ['import::create'] }
  expect((await read(id)).status).toBe(403)
})
