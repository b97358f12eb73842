import { mergeBatch } from '@backoffice/postgres/merge-counts.ts'
import { aCaller } from '@backoffice/testing/caller.ts'
import { eventually } from '@backoffice/testing/eventually.ts'
import { expect, it } from 'vitest'
import { collectionsService } from '../testing/collections-api.ts'

const { admin, worker, create, products, project, send, membershipDifferences } = await collectionsService()

/** A collection of two products, and its membership version. */
async function aCollection() {
  const caller = aCaller()
  const states = await products(caller, 'Shirt', 'Cap')
  const { id } = await create(caller)
  const path = `/v1/collections/${id}/products`
  for (const state of states) await send(caller, 'POST', path, { products: [state.id] })
  const [row] = await admin<{ number: string }[]>`select number from membership_version where collection_id = ${id}`
  return { caller, states, number: row?.number ?? '' }
}

const rowsOf = async (version: string) =>
  (
    await admin<{ available: number }[]>`
      select available::integer from collection_member_count where version_number = ${version}`
  ).map(({ available }) => available)

it('the changes of a membership version are merged into one row, and stay right with later ones', async () => {
  const { caller, states, number } = await aCollection()
  expect(await rowsOf(number)).toEqual([1, 1])
  await mergeBatch(worker.sql, 'collection_member_count')
  expect(await rowsOf(number)).toEqual([2])
  await project(caller, states[0]?.id ?? '')
  expect((await rowsOf(number)).sort()).toEqual([-1, 2])
  await mergeBatch(worker.sql, 'collection_member_count')
  expect(await rowsOf(number)).toEqual([1])
  expect(await membershipDifferences(caller)).toEqual([])
})

it('the counts of a membership version are deleted with it, those of a merge that is under way too', async () => {
  const { number } = await aCollection()
  const deleting = await worker.sql.begin(async (tx) => {
    await tx`select merge_collection_member_count(100)`
    const done = admin`delete from membership_version where number = ${number}`.execute()
    await eventually('the deletion waits', async () => {
      const waiting = await admin`
        select from pg_stat_activity where wait_event = 'advisory' and datname = current_database()`
      return waiting.length > 0
    })
    return { done }
  })
  await deleting.done
  expect(await rowsOf(number)).toEqual([])
})
