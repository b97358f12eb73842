import { ApiError, badRequest } from '@backoffice/contracts/errors.ts'
import { CollectionRow } from '@backoffice/contracts/imports.ts'
import { refuseUnstorable } from '@backoffice/contracts/storable.ts'
import type { ImportBatch } from '@backoffice/messaging/import-batches.ts'
import { type Row, RowOutcomes } from '@backoffice/messaging/row-outcomes.ts'
import type { Transaction } from '@backoffice/postgres/database.ts'
import { v7 as uuidv7 } from 'uuid'
import { emptyCollection, isSameCollection, withChanges } from '../collections/change-collection.ts'
import { type CollectionRecord, collectionColumns } from '../collections/collection.ts'
import { lockMembershipAlone } from '../members/membership-lock.ts'
import { type Rules, readRules } from '../rules/rules.ts'
import { type CollectionChange, writeCollections } from './write-collections.ts'

/**
 * Applies rows of the template `collections` (OP-54, OP-118): creates collections, and sets what is given of those that have the
 * handle, by the rules of POST and PUT /v1/collections.
 */
export async function importCollections(tx: Transaction, batch: ImportBatch, now: Date): Promise<RowOutcomes> {
  const outcomes = new RowOutcomes()
  const rows = outcomes.read(CollectionRow, 'handle', batch.rows)
  const before = await lockCollections(tx, rows)
  const changes = rows.flatMap((row): CollectionChange[] => {
    const current = before.get(row.values.handle)
    const next = outcomes.attempt(row, () => planRow(row.values, current, now))
    if (next === undefined) return []
    outcomes.applied(row, current === undefined ? 'created' : 'updated')
    return current !== undefined && isSameCollection(current, next) ? [] : [{ current, next }]
  })
  await writeCollections(tx, changes, now)
  return outcomes
}

/**
 * Locks the collections that have these handles, in id order, after the workspace's membership where rows may change one. A handle
 * that comes to be after this fails on its unique constraint, and the batch runs again.
 */
async function lockCollections(
  tx: Transaction,
  rows: readonly Row<CollectionRow>[],
): Promise<ReadonlyMap<string, CollectionRecord>> {
  const workspace = tx.context.workspaceId
  if (rows.some(({ values }) => mayChangeMembership(values))) await lockMembershipAlone(tx, workspace)
  const collections = await tx<CollectionRecord[]>`
    select ${collectionColumns(tx)} from collection
    where workspace_id = ${workspace} and handle = any(${rows.map(({ values }) => values.handle)})
    order by id for update`
  return new Map(collections.map((collection) => [collection.handle, collection]))
}

const mayChangeMembership = (row: CollectionRow): boolean =>
  row.membership_type !== undefined || row.rules !== undefined || row.sort_order !== undefined

/** The collection as the row makes it; throws what the row is refused for. */
function planRow(row: CollectionRow, current: CollectionRecord | undefined, now: Date): CollectionRecord {
  const { handle, rules: cell, seo_title, seo_description, ...body } = row
  if (current === undefined && row.name === undefined) throw badRequest('name: is required for a new collection')
  const base = current ?? emptyCollection(uuidv7(), row.name ?? '', handle, now)
  const isSmart = (row.membership_type ?? base.membershipType) === 'SMART'
  const rules = isSmart && cell !== undefined ? rulesIn(cell) : undefined
  return withChanges(base, { ...body, rules, seo: { title: seo_title, description: seo_description } }, undefined)
}

/** Reads rules that a cell holds as JSON. Throws `bad_request` with the message that the API has for them. */
function rulesIn(cell: string): Rules {
  try {
    const rules = readRules(JSON.parse(cell))
    refuseUnstorable(rules, 'rules')
    return rules
  } catch (error) {
    if (error instanceof SyntaxError) throw badRequest(`rules: malformed JSON: ${error.message}`)
    throw error instanceof ApiError ? badRequest(`rules: ${error.message}`) : error
  }
}
