import { createLogger } from '@backoffice/runtime/logger.ts'
import { metricsText } from '@backoffice/runtime/metrics.ts'
import { aCaller } from '@backoffice/testing/caller.ts'
import { whenDone } from '@backoffice/testing/when-done.ts'
import { expect, it } from 'vitest'
import { aProductState, collectionsService } from '../testing/collections-api.ts'
import { membershipBuilder } from './membership-builder.ts'
import { startSkippedAnew } from './rebuild-skipped-versions.ts'
import { ruleSets } from './rule-sets.ts'
import { measureUnreadable, UnreadableVersions } from './unreadable-versions.ts'

const { admin, worker, send, create, project, productsOf, membershipDifferences } = await collectionsService()

const logger = createLogger('test', 'silent')
const inStock = { match: 'all', conditions: [{ field: 'stock', operator: 'gt', value: 0 }] }
/** Rules as a newer version of the service could store them. */
const NEWER = {
  'an unknown field': { match: 'all', conditions: [{ field: 'weight', operator: 'gt', value: 0 }] },
  'an unknown operator': { match: 'all', conditions: [{ field: 'stock', operator: 'between', value: [0, 9] }] },
  'a value of another type': { match: 'all', conditions: [{ field: 'stock', operator: 'gt', value: 'none' }] },
  'an unknown match': { match: 'none', conditions: [{ field: 'stock', operator: 'gt', value: 0 }] },
  'an unknown member': { ...inStock, except: [] },
  'a condition with an unknown member': { match: 'all', conditions: [{ ...inStock.conditions[0], unit: 'kg' }] },
}
const [[, someNewer]] = Object.entries(NEWER) as [[string, unknown]]

const store = async (id: string, rules: unknown) => {
  const text = JSON.stringify(rules)
  await admin`update collection set rules = ${text}::text::json where id = ${id}`
  await admin`update membership_version set rules = ${text}::text::json where collection_id = ${id}`
  await admin`update rule_version set version = version + 1`
}

/** A workspace with a product in two SMART collections; then one of them gets rules that cannot be read. */
async function shop(rules: unknown = someNewer) {
  const caller = aCaller()
  const mug = aProductState({ name: 'Mug' })
  await project(caller, mug)
  const smart = { membership_type: 'SMART', rules: inStock, sort_order: 'TITLE_ASC' }
  const [readable, unreadable] = [await create(caller, smart), await create(caller, smart)]
  await store(unreadable.id, rules)
  return { caller, mug, readable, unreadable }
}

/** Starts the builder of a replica. Returns the errors that it logs. */
async function startReplica() {
  const errors: unknown[] = []
  const logger = createLogger('test', 'silent')
  logger.error = (details: unknown) => void errors.push(details)
  const builder = membershipBuilder(worker.sql, logger)
  await builder.start?.()
  whenDone(() => builder.stop?.())
  return errors
}

it.each(Object.entries(NEWER))(
  'rules with %s leave their collection as it is, and products go on to the others',
  async (_, rules) => {
    const { caller, mug, readable, unreadable } = await shop(rules)
    await project(caller, aProductState({ name: 'Plate' }), { ...mug, total_stock: 0, version: 2 })
    expect(await productsOf(caller, readable)).toEqual(['Plate'])
    expect(await productsOf(caller, unreadable)).toEqual(['Mug'])
  },
)

it('their members follow the storefront, the order and deletions all the same', async () => {
  const { caller, mug, unreadable } = await shop()
  await project(caller, { ...mug, status: 'HIDDEN', version: 2 })
  expect(await productsOf(caller, unreadable)).toEqual([])
  await project(caller, { ...mug, name: 'Cup', version: 3 })
  expect(await productsOf(caller, unreadable)).toEqual(['Cup'])
  await project(caller, mug.id)
  expect(await productsOf(caller, unreadable)).toEqual([])
})

it('the builder leaves them to other replicas, raises an alarm once, and builds the others of the workspace', async () => {
  const caller = aCaller()
  await project(caller, aProductState({ name: 'Mug' }))
  const collections = [await create(caller), await create(caller), await create(caller)]
  const [first = '', ...others] = collections.map(({ id }) => id).toSorted()
  for (const { id } of collections) {
    const rules = JSON.stringify(id === first ? someNewer : inStock)
    await admin`
      insert into membership_version (workspace_id, collection_id, source, rules, sort_order, state)
      values (${caller.workspaceId}, ${id}, 'RULES', ${rules}::text::json, 'MANUAL', 'BUILDING')`
  }
  const errors = await startReplica()
  const stateOf = async (id: string) => {
    const rows = await admin<{ state: string }[]>`
      select state from membership_version where collection_id = ${id} and source = 'RULES'`
    return rows.map(({ state }) => state).join()
  }
  for (const id of others) await expect.poll(() => stateOf(id)).toBe('CURRENT')
  expect(await stateOf(first)).toBe('BUILDING')
  const [{ number = 0 } = {}] = await admin<{ number: number }[]>`
    select number::integer from membership_version where collection_id = ${first} and source = 'RULES'`
  const alarm = expect.objectContaining({ workspace: caller.workspaceId, version: number })
  expect(errors).toEqual([alarm])
})

it('a collection that replicas skipped is built anew once one can read its rules', async () => {
  const { caller, mug, unreadable } = await shop()
  await project(caller, aProductState({ name: 'Plate' }), { ...mug, total_stock: 0, version: 2 })
  const versions = () => admin<{ state: string; marked: boolean }[]>`
    select state, skipped_at is not null as marked from membership_version where collection_id = ${unreadable.id} order by number`
  await startSkippedAnew(worker.sql, new UnreadableVersions(), logger, 0)
  expect(await versions()).toEqual([{ state: 'CURRENT', marked: true }])
  await store(unreadable.id, inStock)
  await startSkippedAnew(worker.sql, new UnreadableVersions(), logger)
  expect(await versions()).toEqual([{ state: 'CURRENT', marked: true }])
  await startSkippedAnew(worker.sql, new UnreadableVersions(), logger, 0)
  expect(await versions()).toContainEqual({ state: 'BUILDING', marked: false })
  await startReplica()
  await expect.poll(() => productsOf(caller, unreadable)).toEqual(['Plate'])
  expect(await membershipDifferences(caller)).toEqual([])
})

it('what does not concern the members is changed, what needs the rules is service_unavailable', async () => {
  const { caller, mug, unreadable } = await shop()
  const path = `/v1/collections/${unreadable.id}`
  expect((await send(caller, 'PUT', path, { name: 'Winter' })).status).toBe(200)
  for (const refused of [
    await send(caller, 'PUT', path, { sort_order: 'TITLE_DESC' }),
    await send(caller, 'GET', `${path}/products/${mug.id}/explain`),
  ]) {
    expect([refused.status, refused.body.error.code]).toEqual([503, 'service_unavailable'])
  }
  expect((await send(caller, 'PUT', path, { rules: inStock })).status).toBe(200)
  expect(await productsOf(caller, unreadable)).toEqual(['Mug'])
})

it('a check of the members names the collection and goes on with the others', async () => {
  const { caller, unreadable } = await shop()
  expect(await membershipDifferences(caller)).toEqual([
    { workspace: caller.workspaceId, collection: unreadable.id, kind: 'unreadable', stored: expect.any(String) },
  ])
})

it('a metric has the versions that this replica cannot read, until others replace them', async () => {
  const { caller, unreadable } = await shop()
  const versions = new UnreadableVersions()
  const rules = ruleSets(versions)
  const measured = async () => {
    const measuring = measureUnreadable(worker, createLogger('test', 'silent'), versions)
    await measuring.start?.()
    await measuring.stop?.()
    return /^collections_unreadable_rules (\d+)$/m.exec(await metricsText())?.[1]
  }
  expect(await measured()).toBe('0')
  await rules.of(worker.sql, [caller.workspaceId])
  expect(await measured()).toBe('1')
  expect((await send(caller, 'PUT', `/v1/collections/${unreadable.id}`, { rules: inStock })).status).toBe(200)
  await startReplica()
  await expect.poll(measured).toBe('0')
  expect(versions.numbers.size).toBe(0)
})
