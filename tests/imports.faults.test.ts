import { execFileSync } from 'node:child_process'
import { existsSync, readdirSync } from 'node:fs'
import { request } from 'node:http'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { TOPICS } from '@backoffice/contracts/events.ts'
import type { Import } from '@backoffice/contracts/import.ts'
import { connectKafka } from '@backoffice/messaging/kafka/kafka.ts'
import { collect, silent } from '@backoffice/messaging/kafka/testing/kafka.ts'
import { eventually } from '@backoffice/testing/eventually.ts'
import { randomFrom } from '@backoffice/testing/random.ts'
import { whenDone } from '@backoffice/testing/when-done.ts'
import { expect, it } from 'vitest'
import { importsOf, productRows } from './testing/imports.ts'
import { ownBroker } from './testing/own-broker.ts'
import { startReplica } from './testing/replica.ts'
import { startStack } from './testing/stack.ts'
import { newWorkspace } from './testing/workspaces.ts'

const broker = await ownBroker()
const stack = await startStack({ KAFKA_BROKERS: broker.brokers.join(','), KAFKA_PREFIX: '' })
const folder = join(stack.directory, 'imports')
const incoming = join(folder, 'incoming')

const ROWS = 20_000
const RECOVERY_MS = 60_000
const FROZEN_MS = 4000

const seed = Number(process.env.SEED ?? Math.floor(Math.random() * 1e9))
console.log(`SEED=${seed} kills in the same order, after the same progress`)
const random = randomFrom(seed)

const pidOf = (service: string) => stack.description().services[service]?.pid
/** Kills a service and waits for its new process. */
async function kill(service: string): Promise<void> {
  const before = pidOf(service)
  stack.kill(service)
  await eventually(`${service} was started again`, () => pidOf(service) !== before, RECOVERY_MS)
}

/** Lets no process of PostgreSQL run for a while. */
async function freezePostgres(): Promise<void> {
  const processes = await stack.sql<{ pid: number }[]>`
    select split_part(pg_read_file('postmaster.pid'), E'\n', 1)::integer as pid
    union select pid from pg_stat_activity where pid <> pg_backend_pid()
    union select pg_backend_pid()`
  const signal = (name: NodeJS.Signals) => {
    for (const { pid } of processes) {
      try {
        process.kill(pid, name)
      } catch (error) {
        // A connection was closed meanwhile.
        if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error
      }
    }
  }
  signal('SIGSTOP')
  await pause(FROZEN_MS).finally(() => signal('SIGCONT'))
}

it(`applies each of ${ROWS} rows once, and tells it once, while everything that takes part is killed`, async () => {
  const workspace = await newWorkspace(stack.description())
  const { upload, until, atRest, start, report } = importsOf(stack, workspace)
  const replica = await startReplica(stack, 'imports')
  const killReplica = async () => {
    await replica.kill()
    await replica.start()
  }
  const { id } = (await upload('products', productRows(ROWS))).body
  await until(id, 'is being validated', ({ status }) => status === 'VALIDATING')
  await Promise.all([kill('imports'), killReplica()])
  // Nobody has it any more, as 20 s later.
  await stack.sql`update imports.import set claimed_until = clock_timestamp() where id = ${id}`
  expect(await atRest(id, RECOVERY_MS)).toMatchObject({ status: 'VALIDATED', total_rows: ROWS })
  const [{ claims = 0 } = {}] = await stack.sql<
    { claims: number }[]
  >`select claims from imports.import where id = ${id}`
  expect(claims).toBeGreaterThan(1)

  expect((await start(id)).status).toBe(202)
  const killBroker = async () => {
    await broker.kill()
    await broker.start()
  }
  const faults = [
    () => kill('imports'),
    () => kill('catalog'),
    killBroker,
    () => Promise.all([kill('imports'), kill('catalog')]),
    () => Promise.all([kill('catalog'), killBroker()]),
    () => Promise.all([kill('imports'), killBroker()]),
    () => Promise.all([kill('imports'), killReplica()]),
    freezePostgres,
  ]
  const inOrder = faults.map((fault) => ({ fault, place: random() })).sort((a, b) => a.place - b.place)
  for (const [n, { fault }] of inOrder.entries()) {
    const after = Math.floor(((n + random()) / faults.length) * 0.6 * ROWS)
    const isThere = ({ status, processed_rows: rows }: Import) => status !== 'IMPORTING' || rows >= after
    expect(await until(id, `has ${after} rows`, isThere, RECOVERY_MS)).toMatchObject({ status: 'IMPORTING' })
    await pause(random() * 300)
    await fault()
  }
  expect(await atRest(id, 2 * RECOVERY_MS)).toMatchObject({ status: 'COMPLETED', processed_rows: ROWS })
  expect((await report(id)).summary).toMatchObject({ created: ROWS, updated: 0, failed: 0, errors: [] })
  const [products] = await stack.sql`
    select count(*)::integer as variants, count(distinct sku)::integer as skus, count(distinct product_id)::integer as products
    from catalog.variant where workspace_id = ${workspace.id}`
  expect(products).toEqual({ variants: ROWS, skus: ROWS, products: ROWS })

  const kafka = connectKafka({ brokers: broker.brokers, clientId: 'test', logger: silent })
  whenDone(() => kafka.stop())
  const { records } = collect(kafka, TOPICS.importsEvents)
  await eventually('its event is there', () => records.some(({ key }) => key === id))
  const marker = await upload('stock', 'sku,stock\nSKU-1,5')
  await atRest(marker.body.id)
  await start(marker.body.id)
  await eventually('a later event is there', () => records.some(({ key }) => key === marker.body.id))
  expect(records.filter(({ key }) => key === id)).toHaveLength(1)
}, 480_000)

it('an upload that is cut off leaves nothing behind', async () => {
  const workspace = await newWorkspace(stack.description())
  const { authorization } = importsOf(stack, workspace)
  // Processes that were killed while they validated have left folders.
  const stored = () => readdirSync(folder, { recursive: true }).sort()
  const before = stored()
  const head = '--b\r\nContent-Disposition: form-data; name="template"\r\n\r\nproducts\r\n'
  const part = '--b\r\nContent-Disposition: form-data; name="file"; filename="a.csv"\r\n\r\nsku,name\r\n'
  const headers = { ...authorization, 'content-type': 'multipart/form-data; boundary=b', 'content-length': 10_000_000 }
  const cut = request(new URL('/v1/imports', stack.description().gateway), { method: 'POST', headers })
  cut.on('error', () => undefined)
  cut.write(`${head}${part}${'SKU-1,Mug\r\n'.repeat(200_000)}`)
  await eventually('it arrives', () => stored().length > before.length)
  cut.destroy()
  await eventually('nothing of it is left', () => stored().length === before.length)
  expect(stored()).toEqual(before)
  expect(await stack.sql`select from imports.import where workspace_id = ${workspace.id}`).toHaveLength(0)
})

/** Makes the storage of imports a disk of 3 MiB; false where this machine does not allow it. */
function mountSmallDisk(): boolean {
  try {
    execFileSync('mount', ['-t', 'tmpfs', '-o', 'size=3m', 'tmpfs', folder], { stdio: 'ignore' })
  } catch {
    return false
  }
  whenDone(() => execFileSync('umount', ['-l', folder]))
  return true
}

it('a full disk refuses a file, or ends its validation as FAILED with the reason, and leaves nothing behind', async (test) => {
  if (!mountSmallDisk()) test.skip('needs the right to mount')
  await kill('imports')
  await eventually('imports has its folder', () => existsSync(incoming))
  const workspace = await newWorkspace(stack.description())
  const { upload, atRest, report, start } = importsOf(stack, workspace)
  const refused = await eventually('imports answers', async () => {
    const answer = await upload('products', productRows(200_000))
    return answer.body.error?.message !== undefined && answer
  })
  const message = 'There is no room for the file now; try again later'
  expect(refused).toMatchObject({ status: 503, body: { error: { code: 'service_unavailable', message } } })
  expect(readdirSync(folder, { recursive: true })).toEqual(['incoming'])
  expect(await stack.sql`select from imports.import where workspace_id = ${workspace.id}`).toHaveLength(0)

  const { id } = (await upload('products', productRows(60_000))).body
  await eventually('the disk is full', async () => {
    const failing = await stack.sql`select from imports.import where id = ${id} and failing_since is not null`
    return failing.length > 0
  })
  // The disk has room for a few rows more or fewer each time.
  await stack.sql`
    update imports.import set failing_since = now() - interval '10 minutes', failed_at_row = 60000 where id = ${id}`
  expect(await atRest(id)).toMatchObject({ status: 'FAILED' })
  const { errors } = (await report(id)).summary
  expect(errors).toMatchObject([
    { row: 1, message: 'gave up after 10 minutes: There is no room for the file now; try again later' },
  ])
  expect(readdirSync(folder, { recursive: true }).filter((name) => /\.(csv|ndjson)$/.test(String(name)))).toHaveLength(
    1,
  )
  expect(readdirSync(incoming)).toEqual([])

  const small = (await upload('products', productRows(10))).body.id
  expect(await atRest(small)).toMatchObject({ status: 'VALIDATED' })
  await start(small)
  expect(await atRest(small)).toMatchObject({ status: 'COMPLETED' })
})
