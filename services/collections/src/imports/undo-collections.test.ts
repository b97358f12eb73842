import { randomUUID } from 'node:crypto'
import { appliedBatches } from '@backoffice/importing/testing/import-batches.ts'
import { importUndos } from '@backoffice/importing/testing/import-undos.ts'
import { aCaller, type Caller } from '@backoffice/testing/caller.ts'
import { expect, it } from 'vitest'
import { collectionsService } from '../testing/collections-api.ts'
import { applyImportBatches, importers } from './importers.ts'

const service = await collectionsService()
const { create, products, productsOf, send } = service
const { run } = appliedBatches(
  service,
  applyImportBatches(() => undefined),
)
const { undone } = importUndos(service, importers)

const rules = { match: 'all', conditions: [{ field: 'name', operator: 'eq', value: 'Cap' }] }

async function imported(caller: Caller, row: object): Promise<string> {
  const importId = randomUUID()
  await run(caller, 'collections', [{ handle: 'summer', ...row }], { importId })
  return importId
}
const undo = (caller: Caller, importId: string) => undone(caller, 'collections', importId)
async function pick(caller: Caller): Promise<void> {
  const [shirt] = await products(caller, 'Shirt', 'Cap')
  const added = await send(caller, 'POST', '/v1/collections/summer/products', { products: [shirt?.id] })
  expect(added.status).toBe(204)
}
const kept = { deleted: 0, restored: 0, kept: 1, rows: [{ reason: 'has products that were picked by hand' }] }

it('the undo of an import that made a hand-picked collection SMART gives it its products back (OP-151)', async () => {
  const caller = aCaller()
  const collection = await create(caller)
  await pick(caller)
  const importId = await imported(caller, { name: 'N', membership_type: 'SMART', rules: JSON.stringify(rules) })
  expect(await undo(caller, importId)).toMatchObject({ restored: 1, kept: 0 })
  const builder = await service.startBuilder()
  await expect.poll(() => productsOf(caller, collection)).toEqual(['Shirt'])
  await builder.stop?.()
})

it('a collection that was imported is kept once it has hand-picked products', async () => {
  const caller = aCaller()
  const importId = await imported(caller, { name: 'N' })
  await pick(caller)
  expect(await undo(caller, importId)).toMatchObject(kept)
})

it('a SMART collection that an import made MANUAL is kept once it has hand-picked products', async () => {
  const caller = aCaller()
  await create(caller, { membership_type: 'SMART', rules })
  const importId = await imported(caller, { membership_type: 'MANUAL' })
  await pick(caller)
  expect(await undo(caller, importId)).toMatchObject(kept)
})

it('the import before one that is undone can be undone, too, though it changed the rules (OP-191)', async () => {
  const caller = aCaller()
  const withValue = (value: string) =>
    JSON.stringify({ match: 'all', conditions: [{ field: 'name', operator: 'eq', value }] })
  const first = await imported(caller, { name: 'N', membership_type: 'SMART', rules: withValue('Cap') })
  const second = await imported(caller, { rules: withValue('Shirt') })
  expect(await undo(caller, second)).toMatchObject({ restored: 1, kept: 0 })
  expect(await undo(caller, first)).toMatchObject({ deleted: 1, kept: 0 })
})
