import { COLLECTION, type Collection } from '@backoffice/contracts/collection.ts'
import { appliedBatches } from '@backoffice/importing/testing/import-batches.ts'
import { aCaller, type Caller } from '@backoffice/testing/caller.ts'
import { missingMembers, sampleMembers } from '@backoffice/testing/member-places.ts'
import { expect, it } from 'vitest'
import { applyImportBatches } from '../imports/importers.ts'
import { collectionsService } from '../testing/collections-api.ts'

/* Every declared member is where its declaration says, whoever sends it. A new member needs no line here. */

const service = await collectionsService()
const { admin, send, published } = service
const { outcomes } = appliedBatches(
  service,
  applyImportBatches(() => undefined),
)

const { create, update, imported } = COLLECTION.shapes
const rules = { match: 'all', conditions: [{ field: 'stock', operator: 'gt', value: 3 }] }

/** Samples that fit each other: rules are checked for a SMART collection, and a window ends after its begin. */
const samples = ({ rules: _, ...shape }: Record<string, never>, n: number) => ({
  ...sampleMembers(COLLECTION, shape, n),
  unpublish_at: `204${n}-01-01T00:00:00.000Z`,
})

const rowOf = async (caller: Caller) => {
  const [found] = await admin<{ row: object }[]>`
    select to_jsonb(collection) as row from collection where workspace_id = ${caller.workspaceId}`
  return found?.row
}

it('a create and an update of a collection set every member', async () => {
  const caller = aCaller()
  const lastEvent = async () => (await published(caller)).at(-1)?.payload as Collection
  const sent = samples(create as never, 0)
  const made = await send<Collection>(caller, 'POST', '/v1/collections', sent)
  expect(made.status).toBe(201)
  const places = { answer: made.body, row: await rowOf(caller), event: await lastEvent() }
  expect(missingMembers(COLLECTION, sent, places)).toEqual([])

  const seo = { title: 'Sun', description: 'Sea' }
  const changes = { ...samples(update as never, 1), rules }
  const changed = await send<Collection>(caller, 'PUT', `/v1/collections/${made.body.id}`, { ...changes, seo })
  expect(changed.status).toBe(200)
  const found = { answer: changed.body, row: await rowOf(caller), event: await lastEvent() }
  const values = { ...changes, seo_title: seo.title, seo_description: seo.description }
  expect(missingMembers(COLLECTION, values, found)).toEqual([])
})

it('a row of an import sets every column, of a new collection and of a known one', async () => {
  const caller = aCaller()
  for (const n of [0, 1]) {
    const values = { ...samples(imported as never, n), handle: 'imported' }
    expect(await outcomes(caller, 'collections', [{ ...values, rules: JSON.stringify(rules) }])).toHaveLength(1)
    const rulesAreRead = n === 1
    expect(
      missingMembers(COLLECTION, { ...values, ...(rulesAreRead && { rules }) }, { row: await rowOf(caller) }),
    ).toEqual([])
  }
})
