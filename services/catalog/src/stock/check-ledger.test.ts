import { execFile } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { openDatabase } from '@backoffice/postgres/database.ts'
import { aCaller } from '@backoffice/testing/caller.ts'
import { testDatabase } from '@backoffice/testing/database.ts'
import { afterAll, beforeEach, expect, it } from 'vitest'
import { ledgerDifferences } from './check-ledger.ts'
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

/** Runs the command and returns its exit code and what it printed. */
const check = () =>
  new Promise<{ code: number; output: string }>((resolve) => {
    const file = fileURLToPath(new URL('check-ledger.ts', import.meta.url))
    const env = { ...process.env, WORKER_DATABASE_URL: workerUrl }
    execFile(process.execPath, [file], { env }, (error, output) => resolve({ code: Number(error?.code ?? 0), output }))
  })

it('as a command prints the differences and fails when there is one', async () => {
  const { variant } = stockClient(database)
  const mug = await variant(5)
  expect(await check()).toEqual({ code: 0, output: 'variants checked: 1; stocks that differ from their ledgers: 0\n' })
  await unrecorded((sql) => sql`update variant set stock = 6 where id = ${mug.id}`)
  const { code, output } = await check()
  expect(code).toBe(1)
  expect(output).toContain(`"variant":"${mug.id}","stock":"6","moved":"5"`)
  expect(output).toContain('variants checked: 1; stocks that differ from their ledgers: 1')
})
