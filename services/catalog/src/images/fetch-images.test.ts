import { randomUUID } from 'node:crypto'
import { existsSync, mkdtempSync, readdirSync, rmSync } from 'node:fs'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { ImportImages } from '@backoffice/contracts/imports.ts'
import { LIMITS } from '@backoffice/contracts/limits.ts'
import { guardedAgent, KEEP } from '@backoffice/outbound/guarded-agent.ts'
import { listeningOn } from '@backoffice/outbound/testing/listening-on.ts'
import { type AnySql, openDatabase } from '@backoffice/postgres/database.ts'
import { assetUrl } from '@backoffice/runtime/asset-url.ts'
import { createLogger } from '@backoffice/runtime/logger.ts'
import { localStorage } from '@backoffice/storage/local-storage.ts'
import { STORED_BYTES } from '@backoffice/storage/stored-bytes.ts'
import { aCaller } from '@backoffice/testing/caller.ts'
import { eventually } from '@backoffice/testing/eventually.ts'
import { planOf, rowsReadBy, type SentStatement } from '@backoffice/testing/query-plan.ts'
import { serviceClient } from '@backoffice/testing/service-client.ts'
import { whenDone } from '@backoffice/testing/when-done.ts'
import { beforeEach, describe, expect, test } from 'vitest'
import { imageWork, SLOTS } from '../assets/image-work.ts'
import { copyImage, noise } from '../assets/testing/asset-samples.ts'
import { importsUnderTest } from '../imports/testing/applied-imports.ts'
import { countImages } from './count-images.ts'
import { fetchImages } from './fetch-images.ts'

const directory = mkdtempSync(join(tmpdir(), 'backoffice-images-'))
whenDone(() => rmSync(directory, { recursive: true }))
const storage = localStorage({ name: 'assets', directory })
await storage.start?.()
const { admin, db, appUrl, workerUrl, run, productOf, recordsOf, send, undone } = await importsUnderTest()
const worker = openDatabase({ url: workerUrl, applicationName: 'test worker' })
whenDone(() => worker.stop?.())
const policy = { allowLoopback: true }
const agent = guardedAgent(policy, { keep: { ...KEEP, responseMiB: 21 } })
whenDone(() => agent.destroy())

const asked: string[] = []
let answers: Record<string, (response: ServerResponse, request: IncomingMessage) => void> = {}
const PNG = await noise(8, 8).png().toBuffer()
const png = (response: ServerResponse) => response.writeHead(200, { 'content-type': 'image/png' }).end(PNG)
const server = createServer((request, response) => {
  asked.push(request.url ?? '')
  const answer = answers[request.url ?? ''] ?? png
  answer(response, request)
})
const port = await listeningOn(server, '127.0.0.1')
const urlOf = (path: string) => `http://127.0.0.1:${port}/${path}`

const fetching = { agent, policy, storage, db, worker, storedBytes: STORED_BYTES, schedule: [0, 1, 1] }
const logger = createLogger('test', 'silent')
const copying = { logger, normalizeImage: imageWork(logger, copyImage) }
const processes = { normalizeImage: imageWork(logger) }
/** Runs a replica until the test is over, or until the returned function is called. */
function replica(differences: Partial<Parameters<typeof fetchImages>[0]> = {}) {
  const component = fetchImages({ ...fetching, ...copying, ...differences })
  const stop = async () => component.stop?.()
  whenDone(stop)
  void component.start?.()
  return stop
}

const client = serviceClient(db, [countImages])
let caller = aCaller()
let importId = randomUUID()
beforeEach(() => {
  caller = aCaller()
  importId = randomUUID()
  answers = {}
  asked.length = 0
})

const counted = async (id = importId, who = caller) =>
  (await client<ImportImages>(who, 'POST', '/internal/imports/images', { import_id: id })).body
const imported = (rows: readonly object[], differences = {}) =>
  run(caller, 'products', rows, { importId, ...differences })
const noneWaits = (id = importId, who = caller) =>
  eventually('no image waits', async () => (await counted(id, who)).waiting === 0)
const mug = (images: readonly string[], more = {}) => ({ sku: 'MUG', name: 'Mug', stock: 1, images, ...more })

test('images of an import become media in their order, once, with an event each, and count as stored bytes (OP-281)', async () => {
  const rows = [
    mug(['b.png', 'a.png?size=1&x', 'b.png'].map(urlOf)),
    ...['S', 'M'].map((size) => ({
      ...{ sku: `CAP-${size}`, type: 'VARIABLE_PRODUCT', slug: 'cap', name: 'Cap', stock: 1 },
      ...{ option1_name: 'Size', option1_value: size, images: [urlOf('cap.png'), urlOf(`cap-${size}.png`)] },
    })),
    { sku: 'BAD', name: 'Bad', stock: 1, categories: ['missing'], images: [urlOf('bad.png')] },
  ]
  const outcomes = await imported(rows)
  expect(outcomes.map(({ status }) => status)).toEqual(['created', 'created', 'created', 'failed'])
  expect(await counted()).toEqual({ import_id: importId, waiting: 5, added: 0, failed: 0, failures: [] })
  replica(processes)
  await noneWaits()
  expect(await counted()).toMatchObject({ waiting: 0, added: 5, failed: 0 })
  expect(asked.toSorted()).toEqual(['/a.png?size=1&x', '/b.png', '/cap-M.png', '/cap-S.png', '/cap.png'])

  const { media } = await productOf(caller, 'MUG')
  expect(media.map(({ position, type }) => [position, type])).toEqual([
    [0, 'image/png'],
    [1, 'image/png'],
  ])
  for (const { url, thumbnail } of media) {
    for (const each of [url, thumbnail ?? ''])
      expect(existsSync(join(directory, each.slice(assetUrl('').length)))).toBe(true)
  }
  expect((await productOf(caller, 'CAP-M')).media.map(({ position }) => position)).toEqual([0, 1, 2])
  const events = (await recordsOf(caller)).filter(({ topic }) => topic === 'catalog.events')
  expect(events.map(({ type }) => type)).toEqual(Array.from({ length: 5 }, () => 'product.updated'))
  const [stored] = await admin`select bytes from stored_bytes where workspace_id = ${caller.workspaceId}`
  expect(Number(stored?.bytes)).toBeGreaterThan(0)
  expect(readdirSync(storage.incoming)).toEqual([])

  // The same file again adds nothing; an image that was taken off comes back.
  const [first] = media
  await send(caller, 'PUT', `/v1/products/${(await productOf(caller, 'MUG')).id}`, { remove_medias: [first?.id] })
  importId = randomUUID()
  await imported(rows)
  expect(await counted()).toMatchObject({ waiting: 1 })
  await noneWaits()
  expect((await productOf(caller, 'MUG')).media.map(({ position }) => position)).toEqual([1, 2])
  expect((await productOf(caller, 'CAP-M')).media).toHaveLength(3)
})

describe('an image that cannot be taken', () => {
  const html = (response: ServerResponse) =>
    response.writeHead(200, { 'content-type': 'image/png' }).end('<html></html>')
  const huge = (response: ServerResponse) => {
    response.writeHead(200, { 'content-type': 'image/png' })
    const part = Buffer.alloc(1024 * 1024)
    const more = (): unknown => response.destroyed || response.write(part, () => setImmediate(more))
    more()
  }
  const to = (location: string) => (response: ServerResponse) => response.writeHead(302, { location }).end()
  test.each([
    ['is not there', { '/x': (response: ServerResponse) => response.writeHead(404).end() }, 'answered 404'],
    ['is HTML', { '/x': html }, 'is no image; images must be JPEG, PNG, WebP, GIF or AVIF'],
    ['has no bytes', { '/x': (response: ServerResponse) => response.end() }, 'is empty'],
    [
      'is cut off',
      { '/x': (response: ServerResponse) => response.end(PNG.subarray(0, 60)) },
      'cannot be taken as image/png',
    ],
    ['has no end', { '/x': huge }, 'is larger than 20 MiB'],
    [
      'says that it is larger',
      {
        '/x': (response: ServerResponse) =>
          response.writeHead(200, { 'content-length': LIMITS.assetBytes + 1 }).write('x'),
      },
      'is larger than 20 MiB',
    ],
    [
      'leads to the metadata of a cloud',
      { '/x': to('https://169.254.169.254/latest/meta-data') },
      '169.254.169.254 is not a public address',
    ],
    [
      'leads to http',
      { '/x': to('http://example.com/x.png') },
      'redirects to example.com: the URL must be an https URL',
    ],
    ['leads in a circle', { '/x': to('/x') }, 'redirects more than 3 times'],
  ])('since it %s is asked for once, and reported with the reason', async (_, behaviour, reason) => {
    answers = behaviour
    await imported([mug([urlOf('x')])])
    replica(processes)
    await noneWaits()
    const { failed, failures } = await counted()
    expect(failed).toBe(1)
    expect(failures).toEqual([
      { product: (await productOf(caller, 'MUG')).id, url: urlOf('x'), reason: expect.stringContaining(reason) },
    ])
    expect((await productOf(caller, 'MUG')).media).toEqual([])
    expect(new Set(asked)).toEqual(new Set(['/x']))
    expect(readdirSync(storage.incoming)).toEqual([])
    expect(await admin`select from asset where workspace_id = ${caller.workspaceId}`).toHaveLength(0)
  })

  test('now is asked for again, as often as the schedule says', async () => {
    let answered = 0
    answers = {
      '/later': (response) => (answered++ === 0 ? response.writeHead(500).end() : png(response)),
      '/never': (response) => response.writeHead(429).end(),
      '/redirected': (response) => response.writeHead(301, { location: '/image.png' }).end(),
    }
    await imported([mug(['later', 'never', 'redirected'].map(urlOf))])
    replica()
    await noneWaits()
    expect(await counted()).toMatchObject({ added: 2, failures: [{ reason: 'answered 429' }] })
    expect(asked.filter((path) => path === '/never')).toHaveLength(3)
    // The next import asks for what failed, and for nothing else.
    answers = {}
    importId = randomUUID()
    await imported([mug(['later', 'never', 'redirected'].map(urlOf))])
    await noneWaits()
    expect(await counted()).toMatchObject({ added: 1 })
    expect((await productOf(caller, 'MUG')).media).toHaveLength(3)
  })
})

test('images come to the end also behind media at the greatest position', async () => {
  await imported([mug([urlOf('a.png')])])
  replica()
  await noneWaits()
  await admin`update media set position = 2147483647 where workspace_id = ${caller.workspaceId}`
  await imported([mug([urlOf('b.png')])], { batch: 1 })
  await noneWaits()
  const { media } = await productOf(caller, 'MUG')
  expect(media.map(({ position }) => position)).toEqual([2_147_483_647, 2_147_483_647])
})

test('a product that is deleted while its image is fetched leaves nothing behind', async () => {
  const begun = Promise.withResolvers<ServerResponse>()
  answers = { '/slow.png': begun.resolve }
  await imported([mug([urlOf('slow.png')])])
  replica()
  const response = await begun.promise
  await send(caller, 'DELETE', `/v1/products/${(await productOf(caller, 'MUG')).id}`)
  png(response)
  await eventually('the file is removed', () => readdirSync(storage.incoming).length === 0)
  expect(await admin`select from asset where workspace_id = ${caller.workspaceId}`).toHaveLength(0)
  expect(await counted()).toMatchObject({ waiting: 0, added: 0, failed: 0 })
})

test('a replica that dies between the fetch and the commit leaves no image twice', async () => {
  const stored = Promise.withResolvers<void>()
  const inWorkspace: typeof db.inWorkspace = (...transaction) => {
    if (asked.length === 0) return db.inWorkspace(...transaction)
    stored.resolve()
    return new Promise(() => undefined)
  }
  const dying = fetchImages({ ...fetching, ...copying, db: { ...db, inWorkspace } })
  await imported([mug([urlOf('a.png')])])
  void dying.start?.()
  await stored.promise
  // It claims nothing more. Its attempt never ends.
  void dying.stop?.()
  expect((await counted()).waiting).toBe(1)
  await admin`update product_image set next_attempt_at = now() where workspace_id = ${caller.workspaceId}`
  replica()
  replica()
  await noneWaits()
  expect((await productOf(caller, 'MUG')).media).toHaveLength(1)
  expect(asked).toHaveLength(2)
})

test('an image at which each replica dies is given up (OP-281)', async () => {
  await imported([mug([urlOf('a.png')])])
  await admin`update product_image set attempts = 3 where workspace_id = ${caller.workspaceId}`
  replica()
  await noneWaits()
  expect(await counted()).toMatchObject({ failures: [{ reason: 'could not be taken; import the file again' }] })
  expect(asked).toEqual([])
})

test('many slow images of one workspace hold up no other, and a stop takes none for an attempt', async () => {
  const waiting: ServerResponse[] = []
  answers = Object.fromEntries(
    Array.from({ length: 200 }, (_, n) => [`/slow-${n}.png`, (response) => void waiting.push(response)]),
  )
  const [slow, slowImport] = [caller, importId]
  await imported([mug(Object.keys(answers).map((path) => urlOf(path.slice(1))))])
  const stop = replica()
  await eventually('four are under way', () => waiting.length === 4)
  caller = aCaller()
  importId = randomUUID()
  await imported([mug([urlOf('fast.png')])])
  await noneWaits()
  expect((await productOf(caller, 'MUG')).media).toHaveLength(1)
  expect(waiting).toHaveLength(4)
  await stop()
  expect(await counted(slowImport, slow)).toMatchObject({ waiting: 200, failed: 0 })
  expect(await admin`select from product_image where workspace_id = ${slow.workspaceId} and attempts > 0`).toHaveLength(
    0,
  )
  await admin`delete from product_image where workspace_id = ${slow.workspaceId}`
})

test('an image whose product is locked is added once it is free, and fetched once', async () => {
  const hasty = openDatabase({ url: appUrl, applicationName: 'hasty', settings: { lock_timeout: '100ms' } })
  whenDone(() => hasty.stop?.())
  await imported([mug([urlOf('a.png')])])
  const { id } = await productOf(caller, 'MUG')
  const waits = async () => {
    const sessions = await admin`
      select from pg_stat_activity
      where application_name = 'hasty' and datname = current_database() and wait_event_type = 'Lock'`
    return sessions.length > 0
  }
  await admin.begin(async (tx) => {
    await tx`select from product where id = ${id} for update`
    replica({ db: hasty, schedule: [0] })
    await eventually('it waits for the product', waits)
    await eventually('it has given up', async () => !(await waits()))
  })
  await noneWaits()
  expect(await counted()).toMatchObject({ added: 1, failed: 0 })
  expect(asked).toEqual(['/a.png'])
})

test('an image that finds no image process free here has used up no attempt', async () => {
  const held = Promise.withResolvers<void>()
  whenDone(() => held.resolve())
  const normalizeImage = imageWork(logger, async (type, ...rest) => {
    if (type !== 'held') return copyImage(type, ...rest)
    await held.promise
    return undefined
  })
  const files = { source: '', image: '', thumbnail: '' }
  const others = Array.from({ length: 1 + SLOTS.waiting }, () => normalizeImage(caller.workspaceId, 'held', files))
  await imported([mug([urlOf('a.png')])])
  replica({ normalizeImage })
  const refused = () =>
    eventually('it is refused', async () => {
      const [row] = await admin`
        select attempts, failure from product_image where workspace_id = ${caller.workspaceId} and failure is not null`
      return row
    })
  const again = () => admin`
    update product_image set next_attempt_at = now(), failure = null where workspace_id = ${caller.workspaceId}`
  const failure = 'Too many images of this workspace are waiting; send fewer at once'
  expect(await refused()).toEqual({ attempts: 0, failure })
  for (const _ of fetching.schedule) {
    await again()
    expect(await refused()).toEqual({ attempts: 0, failure })
  }
  held.resolve()
  await Promise.all(others)
  await again()
  await noneWaits()
  expect(await counted()).toMatchObject({ added: 1, failed: 0 })
})

test('neither the search for a workspace nor a claim reads more rows when more images of a busy one are due', async () => {
  const held: ServerResponse[] = []
  answers = { '/slow.png': (response) => void held.push(response) }
  await imported([mug([urlOf('slow.png')])])
  await admin`
    insert into product_image (workspace_id, product_id, url, position, import_id, livemode, traceparent)
    select workspace_id, product_id, url || '#' || n, position, import_id, livemode, traceparent
    from product_image, generate_series(1, 5000) as n where workspace_id = ${caller.workspaceId}`
  await admin`update product_image set next_attempt_at = now() where workspace_id = ${caller.workspaceId}`
  await admin`vacuum analyze product_image`
  const sent: SentStatement[] = []
  const opened = (url: string) => {
    const onStatement = (text: string, parameters: unknown[]) => void sent.push({ text, parameters })
    const database = openDatabase({ url, applicationName: 'watched', onStatement })
    whenDone(() => database.stop?.())
    return database
  }
  const watched = { db: opened(appUrl), worker: opened(workerUrl) }
  const stop = replica(watched)
  await eventually('four are under way', () => held.length === 4)
  const searches = () => sent.filter(({ text }) => text.includes('"workspaceId" >'))
  await eventually('the search goes on behind the workspace, and begins anew', () => searches().length >= 5)

  const rowsOf = async (sql: AnySql, statement: SentStatement) =>
    Math.max(...(await planOf(sql, statement, 'analyze')).map((part) => rowsReadBy([part])))
  const claims = sent.filter(({ text }) => text.includes('skip locked'))
  const context = { ...caller, traceparent: '' }
  const searched = await Promise.all(searches().map((search) => rowsOf(worker.sql, search)))
  const claimed = await Promise.all(claims.map((claim) => db.inWorkspace(context, (tx) => rowsOf(tx, claim))))
  expect(claimed).toHaveLength(1)
  expect(Math.max(...searched, ...claimed)).toBeLessThan(10)
  await stop()
  await admin`delete from product_image where workspace_id = ${caller.workspaceId}`
})

test('an undone import takes its images with it, those that wait too, and a change by somebody keeps them (OP-151)', async () => {
  await run(caller, 'products', [
    { sku: 'OLD', name: 'Old', stock: 1 },
    { sku: 'KEPT', name: 'Kept', stock: 1 },
  ])
  answers = { '/never.png': (response) => response.writeHead(500).end() }
  await imported([
    { sku: 'OLD', images: ['a.png', 'never.png'].map(urlOf) },
    { sku: 'KEPT', images: [urlOf('b.png')] },
    mug([urlOf('c.png')]),
  ])
  replica({ schedule: [0, 3_600_000] })
  await eventually('three are added', async () => (await counted()).added === 3)
  const kept = await productOf(caller, 'KEPT')
  await send(caller, 'PUT', `/v1/products/${kept.id}`, { name: 'Mine' })
  expect(await undone(caller, 'products', importId)).toMatchObject({ deleted: 1, restored: 1, kept: 1 })
  expect((await productOf(caller, 'OLD')).media).toEqual([])
  expect((await productOf(caller, 'KEPT')).media).toHaveLength(1)
  expect(await counted()).toMatchObject({ waiting: 0, added: 1, failed: 0 })
})

test('nothing waits of an undone import for a product that somebody changed between two batches (OP-151)', async () => {
  await imported([mug([urlOf('a.png')])])
  await send(caller, 'PUT', `/v1/products/${(await productOf(caller, 'MUG')).id}`, { name: 'Mine' })
  await imported([{ sku: 'MUG', stock: 2 }], { batch: 1 })
  expect(await counted()).toMatchObject({ waiting: 1 })
  expect(await undone(caller, 'products', importId)).toMatchObject({
    ...{ deleted: 0, restored: 0, kept: 1 },
    rows: [{ reason: 'was changed while the import was applied' }],
  })
  expect(await counted()).toMatchObject({ waiting: 0, added: 0, failed: 0 })
})

test('the images of an import are those of its workspace', async () => {
  await imported([mug([urlOf('a.png')])])
  expect(await counted(importId, aCaller())).toMatchObject({ waiting: 0, added: 0, failed: 0 })
  await admin`delete from product_image where workspace_id = ${caller.workspaceId}`
})
