import { randomUUID } from 'node:crypto'
import { consumedImports } from '@backoffice/importing/testing/consumed-imports.ts'
import { aBatch } from '@backoffice/importing/testing/import-batches.ts'
import { aCaller } from '@backoffice/testing/caller.ts'
import { eventually } from '@backoffice/testing/eventually.ts'
import { expect, test } from 'vitest'
import { applyImportBatches } from './importers.ts'

const imports = await consumedImports(
  'collections',
  applyImportBatches(() => undefined),
)
const { admin, send, answered, answersOf } = imports
const dead = imports.deadLetters()
await Promise.all([imports.startReplica(), imports.startReplica()])

const summer = (name: string, handle = 'summer') => ({ handle, name })
const namesOf = async ({ workspaceId }: { workspaceId: string }) =>
  (await admin`select name from collection where workspace_id = ${workspaceId} order by id`).map(({ name }) => name)

test('the batches of an import are applied in their order, each answered under its import, with its rows', async () => {
  const caller = aCaller()
  const importId = randomUUID()
  await send(
    aBatch(caller, 'collections', [summer('One'), { handle: 'bad' }], { importId }),
    aBatch(caller, 'collections', [summer('Two')], { importId, batch: 1 }),
  )
  expect(await answered(importId, 2)).toEqual([
    {
      import_id: importId,
      batch: 0,
      template: 'collections',
      rows: [
        { row: 2, status: 'created', errors: [] },
        {
          row: 3,
          status: 'failed',
          errors: [{ column: 'name', code: 'bad_request', message: 'is required for a new collection', value: null }],
        },
      ],
    },
    {
      import_id: importId,
      batch: 1,
      template: 'collections',
      rows: [{ row: 2, status: 'updated', errors: [] }],
    },
  ])
  expect(await namesOf(caller)).toEqual(['Two'])
  const [answer] = await admin`select * from outbox where topic = 'imports.results' and key = ${importId} limit 1`
  expect(answer).toMatchObject({ type: 'batch.applied', workspace_id: caller.workspaceId, livemode: caller.livemode })
})

test('a batch that comes again changes nothing and is answered once', async () => {
  const caller = aCaller()
  const importId = randomUUID()
  const first = aBatch(caller, 'collections', [summer('One')], { importId })
  await send(first)
  await answered(importId, 1)
  await admin`update collection set name = 'Changed since' where workspace_id = ${caller.workspaceId}`
  await send(first, aBatch(caller, 'collections', [summer('New', 'new')], { importId, batch: 1 }))
  expect((await answered(importId, 2)).map(({ batch }) => batch)).toEqual([0, 1])
  expect(await namesOf(caller)).toEqual(['Changed since', 'New'])
})

test('templates of other services are passed over', async () => {
  const caller = aCaller()
  const importId = randomUUID()
  const products = aBatch(caller, 'products', [{ sku: 'MUG', name: 'Mug', stock: 1 }], { importId })
  await send(products, aBatch(caller, 'collections', [summer('One')], { importId, batch: 1 }))
  expect((await answered(importId, 1)).map(({ batch }) => batch)).toEqual([1])
  const inbox = await admin`select consumer, message_id from inbox where workspace_id = ${caller.workspaceId}`
  expect([...inbox]).toEqual([{ consumer: 'collections.imports', message_id: `${importId}/1` }])
})

test('a batch nobody can read goes to the dead letters with its reason, and its import’s later ones follow it', async () => {
  const caller = aCaller()
  const [sick, healthy] = [randomUUID(), randomUUID()]
  const broken = aBatch(caller, 'collections', [summer('One')], { importId: sick })
  await send({ ...broken, data: { ...broken.data, rows: undefined as never } })
  await send(aBatch(caller, 'collections', [summer('One')], { importId: sick, batch: 1 }))
  await send(aBatch(caller, 'collections', [summer('One')], { importId: healthy }))
  await answered(healthy, 1)
  const letters = await eventually('two dead letters', () => {
    const found = dead.records.filter(({ key }) => key === sick)
    return found.length === 2 && found
  })
  const reasons = letters.map(({ headers }) => headers['dead-letter-reason']?.toString())
  expect(reasons).toEqual([expect.stringContaining('rows'), 'an earlier record of its key is here'])
  expect(await answersOf(sick)).toEqual([])
})
