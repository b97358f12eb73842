import { randomUUID } from 'node:crypto'
import { ApiError } from '@backoffice/contracts/errors.ts'
import { expect, it } from 'vitest'
import { recordResults } from '../applying/record-results.ts'
import { anAnswer, storedImports } from '../testing/stored-imports.ts'
import { recordFailure } from './end-import.ts'

const { add, admin, db, columnsOf, eventsOf, receive } = await storedImports()
const away = new ApiError('service_unavailable', 'catalog does not answer')
const validating = { status: 'VALIDATING', started_at: null, ends_at_batch: null, batches: 0, claims: 3 }

it('an import that fails is tried again a moment later, and its failures are no deaths of a process', async () => {
  const failing = await add({ columns: validating })
  await recordFailure(db, failing, away)
  const { failing_since: since, ...columns } = (await columnsOf(failing)) ?? {}
  expect(columns).toMatchObject({ status: 'VALIDATING', claims: 0, claimed_until: expect.any(Date), failure: null })
  await recordFailure(db, failing, away)
  expect(await columnsOf(failing)).toMatchObject({ status: 'VALIDATING', failing_since: since })
})

it('an import that fails for too long is FAILED with the reason, without an event since nothing was applied', async () => {
  const failing = await add({ columns: validating })
  await recordFailure(db, failing, away, '0 seconds')
  const failure = 'gave up after 0 seconds: catalog does not answer'
  expect(await columnsOf(failing)).toMatchObject({ status: 'FAILED', failure, ended_at: expect.any(Date) })
  expect(await eventsOf(failing)).toEqual([])
})

it('a validation that fails well before its former row, after ten minutes, begins its time anew; about there it is given up', async () => {
  const ago = (minutes: number) => new Date(Date.now() - minutes * 60_000)
  const rows = { total_rows: 500, failed_at_row: 1000 }
  const failing = await add({ columns: { ...validating, ...rows, failing_since: ago(30), claimed_at: ago(25) } })
  await recordFailure(db, failing, away)
  const { status, failing_since: since } = (await columnsOf(failing)) ?? {}
  expect(status).toBe('VALIDATING')
  expect(since.getTime()).toBeGreaterThan(ago(5).getTime())
  // A full disk has room for a few rows more or fewer each time.
  await admin`update import set failing_since = ${ago(25)}, total_rows = 495 where id = ${failing.id}`
  await recordFailure(db, failing, away)
  expect(await columnsOf(failing)).toMatchObject({ status: 'FAILED' })
})

it('an import that cannot be applied is FAILED once the batches under way are answered', async () => {
  const failing = await add({ batches: 5, columns: { next_batch: 2 } })
  await recordFailure(db, failing, new Error('ENOENT'), '0 seconds')
  const failure = 'gave up after 0 seconds: an internal error'
  expect(await columnsOf(failing)).toMatchObject({ status: 'IMPORTING', ends_at_batch: 2, failure, ended_at: null })
  const results = recordResults(() => undefined)
  for (const batch of [0, 1]) await receive(results, anAnswer(failing, batch, 'created'))
  expect(await columnsOf(failing)).toMatchObject({ status: 'FAILED', created: 2, failure })
  expect(await eventsOf(failing)).toMatchObject([{ status: 'FAILED', summary: { created: 2 } }])
})

it('the failure of a replica whose claim is lost does not concern the one that has it', async () => {
  const claimed = await add({ columns: { ...validating, claimed_until: new Date(Date.now() + 60_000) } })
  const before = await columnsOf(claimed)
  await recordFailure(db, { ...claimed, claim: randomUUID() }, away, '0 seconds')
  expect(await columnsOf(claimed)).toEqual(before)
})

it('the failure of an import that has ended changes nothing', async () => {
  const cancelled = await add({ columns: { status: 'CANCELLED', ended_at: new Date() } })
  const before = await columnsOf(cancelled)
  await recordFailure(db, cancelled, away, '0 seconds')
  expect(await columnsOf(cancelled)).toEqual(before)
})
