import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { openDatabase } from '@backoffice/postgres/database.ts'
import { checkRuns } from '@backoffice/service/testing/check-runs.ts'
import { backingServices } from '@backoffice/testing/backing-services.ts'
import { aCaller } from '@backoffice/testing/caller.ts'
import { testDatabase } from '@backoffice/testing/database.ts'
import { eventually } from '@backoffice/testing/eventually.ts'
import { startServiceProcess } from '@backoffice/testing/service-process.ts'
import { whenDone } from '@backoffice/testing/when-done.ts'
import { afterAll, beforeEach, expect, it } from 'vitest'
import { checkStock, ledgerDifferences } from './check-ledger.ts'
import { stockClient } from './testing/stock-client.ts'

const database = await testDatabase('catalog')
const { admin, workerUrl } = database
const worker = openDatabase({ url: workerUrl, applicationName: 'test worker' })
afterAll(async () => worker.stop?.())
const found = () => Array.fromAsync(ledgerDifferences(worker.sql))

beforeEach(async () => {
  await admin`truncate product, stock_movement cascade`
})

/** Changes stock without the triggers that write the ledger. */
const unrecorded = (change: (sql: typeof admin) => Promise<unknown>) =>
  admin.begin(async (tx) => {
    await tx`set local session_replication_role = replica`
    await change(tx as unknown as typeof admin)
  })

it('finds nothing while every stock equals its movements, of any workspace and of deleted variants too', async () => {
  for (const client of [stockClient(database), stockClient(database, aCaller())]) {
    const [mug, cup] = [await client.variant(5), await client.variant(0)]
    await client.take([{ variant: mug.id, quantity: 2 }])
    await client.remove(mug.product)
    await admin`update variant set stock = 7 where id = ${cup.id}`
  }
  expect(await found()).toEqual([])
})

it('finds a stock without its movement, a movement without its stock, and a variant that went without one', async () => {
  const { variant, caller } = stockClient(database)
  const [set, unmoved, gone] = [await variant(5), await variant(4), await variant(3)]
  await unrecorded((sql) => sql`update variant set stock = 6 where id = ${set.id}`)
  await admin`delete from stock_movement where variant_id = ${unmoved.id}`
  await unrecorded((sql) => sql`delete from variant where id = ${gone.id}`)
  const workspace = caller.workspaceId
  const differences = [
    { workspace, variant: set.id, stock: '6', moved: '5' },
    { workspace, variant: unmoved.id, stock: '4', moved: '0' },
    { workspace, variant: gone.id, stock: '0', moved: '3' },
  ]
  expect((await found()).sort((a, b) => (a.variant < b.variant ? -1 : 1))).toEqual(
    differences.sort((a, b) => (a.variant < b.variant ? -1 : 1)),
  )
})

it('goes through more differences than fit in one batch', async () => {
  await admin`
    insert into stock_movement (workspace_id, variant_id, product_id, delta, reason, actor)
    select gen_random_uuid(), gen_random_uuid(), gen_random_uuid(), 1, 'set', 'test' from generate_series(1, 2500)`
  expect(await found()).toHaveLength(2500)
})

it('as a check of operators reports the differences, and how much it has compared', async () => {
  const { run } = await checkRuns('catalog', { 'check-stock': checkStock }, database)
  const { variant } = stockClient(database)
  const mug = await variant(5)
  expect(await run('check-stock')).toMatchObject({ state: 'SUCCEEDED', checked: { variants: 1 }, found: 0 })
  await unrecorded((sql) => sql`update variant set stock = 6 where id = ${mug.id}`)
  const found = await run('check-stock')
  expect(found).toMatchObject({ found: 1, findings: [{ variant: mug.id, stock: '6', moved: '5' }] })
})

it('a run whose process is killed is carried out by another replica', async () => {
  const { kafkaBrokers, registryUrl } = backingServices()
  const settings = {
    DATABASE_URL: database.appUrl,
    WORKER_DATABASE_URL: workerUrl,
    KAFKA_BROKERS: kafkaBrokers.join(','),
    KAFKA_PREFIX: `checks-${crypto.randomUUID()}.`,
    SCHEMA_REGISTRY_URL: registryUrl,
    ASSETS_DIRECTORY: await mkdtemp(join(tmpdir(), 'catalog-')),
    ASSETS_URL: 'http://127.0.0.1/assets',
  }
  whenDone(() => rm(settings.ASSETS_DIRECTORY, { recursive: true }))
  const start = () => startServiceProcess('catalog', settings)
  const killed = await start()
  const waitsIn = (another?: number) =>
    eventually('the check waits', async () => {
      const rows = await admin<{ pid: number }[]>`
        select pid from pg_stat_activity
        where datname = current_database() and application_name = 'catalog checks' and wait_event_type = 'Lock'`
      return rows.find(({ pid }) => pid !== another)?.pid
    })
  await admin.begin(async (tx) => {
    await tx`lock variant in access exclusive mode`
    await admin`insert into check_run (check_name, parameters) values ('check-stock', '{}')`
    const pid = await waitsIn()
    await killed.end('SIGKILL')
    await start()
    await waitsIn(pid)
  })
  await eventually('the run has ended', async () => {
    const [run] = await admin`select from check_run where state = 'SUCCEEDED' and begun = 2 and found = 0`
    return run !== undefined
  })
})
