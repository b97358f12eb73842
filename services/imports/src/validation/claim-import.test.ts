import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { Readable } from 'node:stream'
import { buffer } from 'node:stream/consumers'
import { setImmediate } from 'node:timers/promises'
import { ApiError } from '@backoffice/contracts/errors.ts'
import { createLogger } from '@backoffice/runtime/logger.ts'
import { STORED_BYTES } from '@backoffice/storage/stored-bytes.ts'
import { eventually } from '@backoffice/testing/eventually.ts'
import { whenDone } from '@backoffice/testing/when-done.ts'
import { expect, it, vi } from 'vitest'
import { uploadPath } from '../files/file-paths.ts'
import type { OwnerClient } from '../imports/owner-client.ts'
import { type StoredImport, storedImports } from '../testing/stored-imports.ts'
import { claimImport, recordFindings, renewClaim } from './claim-import.ts'
import { validateImports } from './validate-imports.ts'

const { add, admin, db, worker, storage, columnsOf, filesOf } = await storedImports()
const context = { db, worker, storage, storedBytes: STORED_BYTES, logger: createLogger('test', 'silent') }
const claim = (maxBytes = 1000, isIdle = true) => claimImport({ db, worker }, maxBytes, isIdle)
const uploaded = { status: 'UPLOADED', claim: null, started_at: null, ends_at_batch: null, batches: 0 }
const addUploaded = (columns = {}, workspaceId?: string) =>
  add({ batches: 0, columns: { ...uploaded, ...columns }, ...(workspaceId !== undefined && { workspaceId }) })
const endLease = ({ id }: { readonly id: string }) =>
  admin`update import set claimed_until = clock_timestamp() where id = ${id}`
/** Stores the file of an import. */
async function store(one: StoredImport, content: string) {
  const file = join(storage.incoming, one.id)
  await writeFile(file, content)
  const bytes = await storage.put(uploadPath(one), file, 'text/csv')
  await admin`update import set bytes = ${bytes} where id = ${one.id}`
}
const finish = (...all: readonly StoredImport[]) =>
  admin`update import set status = 'CANCELLED', ended_at = now() where id = any(${all.map(({ id }) => id)})`
const FINDINGS = {
  counts: { total_rows: 1, valid_rows: 1, invalid_rows: 0 },
  batches: [{ first_byte: 0, bytes: 10, rows: 1 }],
  errors: [],
  mapping: { source: null, currency: null, columns: [] },
  diff: { create: { count: 0, rows: [] }, update: { count: 0, rows: [] }, unchanged: { count: 0, rows: [] } },
}

it('one of many replicas gets an import', async () => {
  const waiting = await addUploaded()
  const claims = await Promise.all(Array.from({ length: 8 }, () => claim()))
  expect(claims.filter((one) => one !== undefined)).toMatchObject([{ id: waiting.id }])
  expect(await columnsOf(waiting)).toMatchObject({ status: 'VALIDATING', claims: 1 })
  await finish(waiting)
})

it('a replica that dies is replaced after its lease, and records nothing should it live on', async () => {
  const waiting = await addUploaded()
  const first = await claim()
  expect(await claim()).toBeUndefined()
  await endLease(waiting)
  const second = await claim()
  expect(second).toMatchObject({ id: waiting.id })
  if (first === undefined || second === undefined) throw new Error('nothing was claimed')
  expect(await renewClaim(db, first, 7)).toBe(false)
  expect(await recordFindings(db, first, FINDINGS, 90, STORED_BYTES)).toBe(false)
  expect(await columnsOf(waiting)).toMatchObject({ status: 'VALIDATING', claim: second.claim, batches: 0 })
  expect(await renewClaim(db, second, 7)).toBe(true)
  expect(await recordFindings(db, second, FINDINGS, 90, STORED_BYTES)).toBe(true)
  expect(await columnsOf(waiting)).toMatchObject({ status: 'VALIDATED', claim: second.claim, batches: 1 })
})

it('the bytes of what was found count once with those of the file', async () => {
  const waiting = await addUploaded({ bytes: 10 })
  const claimed = await claim()
  if (claimed === undefined) throw new Error('nothing was claimed')
  await recordFindings(db, claimed, FINDINGS, 90, STORED_BYTES)
  await recordFindings(db, claimed, FINDINGS, 90, STORED_BYTES)
  const stored = await admin`select bytes::integer from stored_bytes where workspace_id = ${waiting.workspaceId}`
  expect(stored).toEqual([{ bytes: 100 }])
})

it('a file whose report the workspace has no room for is FAILED, and its reports are removed (OP-164)', async () => {
  const waiting = await addUploaded()
  await store(waiting, 'sku,stock\nA,1\n')
  const check = async () => ({ created: [], updated: [2], unchanged: [], failed: [] })
  const validations = validateImports({ ...context, storedBytes: 50, owners: { check } as unknown as OwnerClient })
  await validations.start?.()
  const ended = await eventually('the import ends', async () => {
    const found = await columnsOf(waiting)
    return found?.ended_at !== null && found
  })
  await validations.stop()
  const failure =
    'the file with its report does not fit: the files of a workspace may have 5e-8 GB in all; send a smaller one, or ask for more room'
  expect(ended).toMatchObject({ status: 'FAILED', failure, findings_bytes: '0', batches: 0 })
  expect(await admin`select from import_finding where import_id = ${waiting.id}`).toHaveLength(0)
  expect(await filesOf(waiting)).not.toContainEqual(expect.stringContaining(ended.claim))
})

it('a file of which the storage gives only a part is tried again', async () => {
  const waiting = await addUploaded()
  await store(waiting, 'sku,stock\nA,1\nB,2\n')
  const [part, whole] = [Buffer.from('sku,stock\nA,1\n'), await buffer(await storage.read(uploadPath(waiting)))]
  let given = part
  const read = async () => Readable.from([given])
  const check: OwnerClient['check'] = async (_asking, page) => ({
    ...{ created: [], updated: page.read.map(({ row }) => row), unchanged: [], failed: [] },
  })
  const validations = validateImports({ ...context, storage: { ...storage, read }, owners: { check } as OwnerClient })
  await validations.start?.()
  await eventually('the validation fails', async () => (await columnsOf(waiting))?.failing_since !== null)
  expect(await columnsOf(waiting)).toMatchObject({ status: 'VALIDATING' })
  given = whole
  await eventually('it is validated', async () => (await columnsOf(waiting))?.status === 'VALIDATED')
  expect(await columnsOf(waiting)).toMatchObject({ valid_rows: '2' })
  await validations.stop()
})

it('findings that the storage takes in part leave no file', async () => {
  const waiting = await addUploaded()
  await store(waiting, 'sku,stock\nA,1\n')
  const before = await filesOf(waiting)
  let stored = 0
  const put: typeof storage.put = (...one) =>
    stored++ === 0 ? storage.put(...one) : Promise.reject(new Error('no answer'))
  const check = async () => ({ created: [], updated: [2], unchanged: [], failed: [] })
  const owners = { check } as unknown as OwnerClient
  const validations = validateImports({ ...context, storage: { ...storage, put }, owners })
  await validations.start?.()
  await eventually('the validation fails', async () => (await columnsOf(waiting))?.failing_since !== null)
  await validations.stop()
  expect(stored).toBe(2)
  expect(await filesOf(waiting)).toEqual(before)
  await finish(waiting)
})

it('a file whose validation has ended four processes is FAILED', async () => {
  const waiting = await addUploaded()
  for (let claims = 1; claims <= 4; claims++) {
    expect(await claim()).toMatchObject({ id: waiting.id })
    await endLease(waiting)
  }
  expect(await claim()).toBeUndefined()
  const failure = expect.stringContaining('could not be validated')
  expect(await columnsOf(waiting)).toMatchObject({ status: 'FAILED', failure, ended_at: expect.any(Date) })
  expect(await claim()).toBeUndefined()
})

it('a file under which two processes have ended is validated alone, and for a minute nothing else begins before', async () => {
  const [other, suspect] = [await addUploaded(), await addUploaded({ claims: 1 })]
  const claims = [await claim(1000, false), await claim(1000, false)]
  expect(claims.map((one) => [one?.id, one?.isAlone]).toSorted()).toEqual(
    [other, suspect].map(({ id }) => [id, false]).toSorted(),
  )
  await endLease(other)
  await endLease(suspect)
  expect(await claim(1000, false)).toBeUndefined()
  expect(await claim()).toMatchObject({ id: suspect.id, isAlone: true })
  expect(await claim(1000, false)).toMatchObject({ id: other.id, isAlone: false })
  await finish(other, suspect)
})

it('files to be validated alone hold no others up for longer, and wait until a replica has none under way', async () => {
  const columns = { claims: 2, claimed_until: new Date(Date.now() - 61_000) }
  const suspects = []
  for (let n = 0; n < 11; n++) suspects.push(await addUploaded(columns))
  const other = await addUploaded({ claimed_at: new Date() })
  const behindSuspect = await addUploaded({}, suspects[0]?.workspaceId)
  expect(await claim(1000, false)).toMatchObject({ id: behindSuspect.id, isAlone: false })
  expect(await claim(1000, false)).toMatchObject({ id: other.id, isAlone: false })
  expect(await claim(1000, false)).toBeUndefined()
  expect(await claim()).toMatchObject({ isAlone: true })
  await finish(other, behindSuspect, ...suspects)
})

it('others wait for a file to be validated alone again every ten minutes', async () => {
  const suspect = await addUploaded({ claims: 2, claimed_until: new Date(Date.now() - 1_201_000) })
  const other = await addUploaded()
  expect(await claim(1000, false)).toBeUndefined()
  expect(await claim()).toMatchObject({ id: suspect.id, isAlone: true })
  await finish(other, suspect)
})

it('a replica validates nothing beside a file that is validated alone', async () => {
  const alone = await addUploaded({ claims: 2 })
  const other = await addUploaded()
  for (const one of [alone, other]) {
    await store(one, 'sku,stock\nA,1\n')
  }
  const asked: string[] = []
  const answered = Promise.withResolvers<void>()
  const check: OwnerClient['check'] = async ({ id }) => {
    asked.push(id)
    if (id === alone.id) await answered.promise
    return { created: [], updated: [2], unchanged: [], failed: [] }
  }
  let looks = 0
  const validations = validateImports({
    ...context,
    owners: { check } as OwnerClient,
    // A claim begins with the worker's role.
    get worker() {
      looks++
      return worker
    },
  })
  await validations.start?.()
  await eventually('the one is checked', () => asked.length > 0)
  validations.wake()
  await setImmediate()
  expect(looks).toBe(1)
  answered.resolve()
  await eventually('both are validated', async () => (await columnsOf(other))?.status === 'VALIDATED')
  expect(asked).toEqual([alone.id, other.id])
  await validations.stop()
})

it('a claim that is lost while PostgreSQL is away does not count as one that has ended its process', async () => {
  const waiting = await addUploaded()
  await store(waiting, 'sku,stock\nA,1\n')
  const intervals = vi.spyOn(globalThis, 'setInterval')
  whenDone(() => intervals.mockRestore())
  let isAway = false
  const inWorkspace: typeof db.inWorkspace = (...work) =>
    isAway ? Promise.reject(new Error('PostgreSQL is away')) : db.inWorkspace(...work)
  const check: OwnerClient['check'] = (_asking, _page, signal) =>
    new Promise((_, reject) => signal.addEventListener('abort', () => reject(signal.reason)))
  const validations = validateImports({ ...context, db: { ...db, inWorkspace }, owners: { check } as OwnerClient })
  await validations.start?.()
  const renew = await eventually('the claim is renewed', () => {
    const heartbeat = intervals.mock.calls.find(([, everyMs]) => everyMs === 5000)
    return heartbeat !== undefined && (heartbeat[0] as () => void)
  })
  isAway = true
  renew()
  await setImmediate()
  isAway = false
  await admin`update import set claim = uuidv7(), claims = 2 where id = ${waiting.id}`
  renew()
  await eventually('the lost claim is taken off', async () => (await columnsOf(waiting))?.claims === 1)
  await validations.stop()
  await finish(waiting)
})

it('a claim that a stopping process gives back is taken over at once, and ends no import, however often that is', async () => {
  const waiting = await addUploaded()
  await store(waiting, 'sku,stock\nA,1\n')
  let asked = 0
  const check: OwnerClient['check'] = (_asking, _page, signal) => {
    asked++
    return new Promise((_, reject) => signal.addEventListener('abort', () => reject(signal.reason)))
  }
  const owners = { check } as OwnerClient
  for (let stops = 1; stops <= 6; stops++) {
    const validations = validateImports({ ...context, owners })
    await validations.start?.()
    await eventually(`the validation begins, after ${stops - 1} stops`, () => asked === stops)
    await validations.stop()
  }
  expect(await columnsOf(waiting)).toMatchObject({ status: 'VALIDATING', claims: 0 })
  expect(await claim()).toMatchObject({ id: waiting.id })
  await finish(waiting)
})

it('an import of which no further rows are read stands still, although its claim is renewed', async () => {
  const waiting = await addUploaded()
  const claimed = await claim()
  if (claimed === undefined) throw new Error('nothing was claimed')
  const renewedAt = async (rows: number) => {
    await renewClaim(db, claimed, rows)
    return (await columnsOf(waiting))?.updated_at
  }
  const first = await renewedAt(7)
  expect(await renewedAt(7)).toEqual(first)
  expect(await renewedAt(8)).not.toEqual(first)
  await finish(waiting)
})

/** Validates an import until it fails, since the owner answers only for rows before `awayFrom`. */
async function validateUntil(awayFrom: number, waiting: StoredImport) {
  const check: OwnerClient['check'] = async (_asking, { read }) => {
    if (read.some(({ row }) => row >= awayFrom)) throw new ApiError('service_unavailable', 'catalog does not answer')
    return { created: [], updated: [], unchanged: [], failed: [] }
  }
  const validations = validateImports({ ...context, owners: { check } as OwnerClient })
  await endLease(waiting)
  await validations.start?.()
  await eventually('the validation fails', async () => (await columnsOf(waiting))?.claims === 0)
  await validations.stop()
}

it('an import that fails is given up after ten minutes in which it came no further', async () => {
  const waiting = await addUploaded({ claims: 1 })
  const rows = Array.from({ length: 1500 }, (_, n) => `S-${n},1\n`)
  await store(waiting, `sku,stock\n${rows.join('')}`)
  const failFor = (ago: string) =>
    admin`update import set failing_since = now() - ${ago}::interval, claims = 1 where id = ${waiting.id}`
  await validateUntil(2, waiting)
  expect(await columnsOf(waiting)).toMatchObject({ status: 'VALIDATING', failing_since: expect.any(Date) })
  for (const awayFrom of [502, 1002]) {
    await failFor('11 minutes')
    await validateUntil(awayFrom, waiting)
    expect(await columnsOf(waiting)).toMatchObject({ status: 'VALIDATING', failure: null })
  }
  await failFor('11 minutes')
  await validateUntil(502, waiting)
  const failure = 'gave up after 10 minutes: catalog does not answer'
  expect(await columnsOf(waiting)).toMatchObject({ status: 'FAILED', failure })
})

it('an import that goes on further than where it failed is the one of its workspace again', async () => {
  const waiting = await addUploaded({ failing_since: new Date(), failed_at_row: 500 })
  const claimed = await claim()
  if (claimed === undefined) throw new Error('nothing was claimed')
  const behind = await addUploaded({}, waiting.workspaceId)
  await renewClaim(db, claimed, 500)
  expect(await columnsOf(waiting)).toMatchObject({ failing_since: expect.any(Date) })
  await renewClaim(db, claimed, 1000)
  expect(await columnsOf(waiting)).toMatchObject({ failing_since: null })
  expect(await claim()).toBeUndefined()
  await finish(waiting, behind)
})

it('imports of a workspace that fail take turns, and hold up none that does not', async () => {
  const failing = { status: 'VALIDATING', failing_since: new Date(), claimed_until: new Date() }
  const first = await addUploaded({ ...failing, claimed_at: new Date(Date.now() - 2000) })
  const second = await addUploaded({ ...failing, claimed_at: new Date(Date.now() - 1000) }, first.workspaceId)
  expect(await claim()).toMatchObject({ id: first.id })
  expect(await claim()).toBeUndefined()
  await endLease(first)
  expect(await claim()).toMatchObject({ id: second.id })
  const good = await addUploaded({}, first.workspaceId)
  expect(await claim()).toMatchObject({ id: good.id })
  await endLease(second)
  expect(await claim()).toBeUndefined()
  await finish(first, second, good)
})

it('an import that has waited ten minutes for its turn does not count as one that failed all the time', async () => {
  const ago = new Date(Date.now() - 660_000)
  const waiting = await addUploaded({
    status: 'VALIDATING',
    failing_since: ago,
    claimed_until: ago,
    failed_at_row: 500,
  })
  expect(await claim()).toMatchObject({ id: waiting.id })
  expect(await columnsOf(waiting)).toMatchObject({ failing_since: null })
  await finish(waiting)
})

it('a cancelled import cannot be recorded', async () => {
  const waiting = await addUploaded()
  const claimed = await claim()
  await finish(waiting)
  if (claimed === undefined) throw new Error('nothing was claimed')
  expect(await renewClaim(db, claimed, 7)).toBe(false)
  expect(await recordFindings(db, claimed, FINDINGS, 90, STORED_BYTES)).toBe(false)
  expect(await columnsOf(waiting)).toMatchObject({ status: 'CANCELLED', batches: 0 })
})

it('workspaces are served round robin, with one file each at a time, and small files have a slot of their own', async () => {
  const at = (n: number) => ({ created_at: new Date(Date.UTC(2026, 0, 1, 0, 0, n)) })
  const first = await addUploaded(at(1))
  const behindFirst = await addUploaded(at(2), first.workspaceId)
  const large = await addUploaded({ ...at(3), bytes: 2000 })
  expect(await claim()).toMatchObject({ id: first.id })
  expect(await claim()).toBeUndefined()
  expect(await claim(2000)).toMatchObject({ id: large.id })
  const later = await addUploaded(at(4))
  await admin`update import set status = 'VALIDATED' where id = ${first.id}`
  expect(await claim()).toMatchObject({ id: later.id })
  expect(await claim()).toMatchObject({ id: behindFirst.id })
  await finish(first, behindFirst, large, later)
})

it('of replicas that look at the same time one claims an import of a workspace, also when they find different ones', async () => {
  const large = await addUploaded({ bytes: 2000 })
  const small = await addUploaded({}, large.workspaceId)
  const claimsAnother = async (found: unknown) => {
    expect(await claim(2000)).toMatchObject({ id: large.id })
    return found
  }
  const thenAnother = (statement: TemplateStringsArray, ...values: never[]) => {
    const query = worker.sql(statement, ...values)
    return statement[0]?.includes('"workspaceId"') ? query.then(claimsAnother) : query
  }
  const looking = { ...worker, sql: Object.assign(thenAnother, worker.sql) as unknown as typeof worker.sql }
  expect(await claimImport({ db, worker: looking }, 1000)).toBeUndefined()
  await endLease(large)
  expect(await claim(1000)).toMatchObject({ id: small.id })
  await finish(large, small)
})

it('a large file that waits for its place holds up no small one of its workspace', async () => {
  const large = await addUploaded({ bytes: 2000 })
  const small = await addUploaded({}, large.workspaceId)
  expect(await claim(1000)).toMatchObject({ id: small.id })
  await finish(large, small)
})
