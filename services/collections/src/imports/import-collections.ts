import { ApiError, badRequest } from '@backoffice/contracts/errors.ts'
import { CollectionRow } from '@backoffice/contracts/imports.ts'
import { refuseUnstorable } from '@backoffice/contracts/storable.ts'
import type { Importer, RowsToPlan } from '@backoffice/importing/importer.ts'
import type { Row } from '@backoffice/importing/row-outcomes.ts'
import type { Transaction } from '@backoffice/postgres/database.ts'
import { newId } from '@backoffice/runtime/clock.ts'
import {
  emptyCollection,
  isSameCollection,
  mayChangeMembership,
  withChanges,
} from '../collections/change-collection.ts'
import { type CollectionRecord, collectionColumns } from '../collections/collection.ts'
import { lockMembershipsExclusive } from '../memberships/membership-lock.ts'
import { addedRules, plusRules, type RuleTotals, refuseTooManyRules, ruleTotals } from '../rules/rule-limits.ts'
import { type Rules, readRules } from '../rules/rules.ts'
import { undoCollections } from './undo-collections.ts'
import { type CollectionChange, writeCollections } from './write-collections.ts'

/** Rows of the template `collections` (OP-54, OP-118), by the rules of POST and PUT /v1/collections. */
export const importCollections: Importer<CollectionChange[]> = {
  async *plan(tx, batch, outcomes, now) {
    const rows = await outcomes.read(CollectionRow, 'handle', batch.rows)
    const before = await findCollections(tx, rows, batch)
    // A check does not know what earlier rows of the file make room for.
    let totals = batch.isCheck ? { collections: 0, bytes: 0 } : await readRuleTotals(tx)
    yield await outcomes.attempts(rows, (row): CollectionChange | undefined => {
      const current = before.get(row.values.handle)
      const next = planRow(row.values, current, now)
      const added = addedRules(current, next)
      const total = plusRules(totals, added)
      refuseTooManyRules(total, added)
      totals = total
      const isChanged = current === undefined || !isSameCollection(current, next)
      outcomes.planned(row, { isNew: current === undefined, isChanged })
      return isChanged ? { current, next } : undefined
    })
  },

  write: writeCollections,
  undo: undoCollections,
}

/**
 * Unless it is a check, locks them in id order, after the membership lock if a row may change a membership. One that is
 * created meanwhile violates the unique constraint, and the batch runs again.
 */
async function findCollections(
  tx: Transaction,
  rows: readonly Row<CollectionRow>[],
  { isCheck }: RowsToPlan,
): Promise<ReadonlyMap<string, CollectionRecord>> {
  const workspace = tx.context.workspaceId
  const mayChangeMemberships = rows.some(({ values }) => mayChangeMembership(values))
  if (mayChangeMemberships && !isCheck) await lockMembershipsExclusive(tx, workspace)
  const collections = await tx<CollectionRecord[]>`
    select ${collectionColumns(tx)} from collection
    where workspace_id = ${workspace} and handle = any(${rows.map(({ values }) => values.handle)})
    order by id ${isCheck ? tx`` : tx`for update`}`
  return new Map(collections.map((collection) => [collection.handle, collection]))
}

async function readRuleTotals(tx: Transaction): Promise<RuleTotals> {
  const [{ totals }] = await tx<[{ totals: RuleTotals }]>`select ${ruleTotals(tx)} as totals`
  return totals
}

/** Applies the row to the collection, or to a new one. Throws the row's refusal. */
function planRow(row: CollectionRow, current: CollectionRecord | undefined, now: Date): CollectionRecord {
  const { handle, rules: cell, seo_title, seo_description, ...body } = row
  if (current === undefined && row.name === undefined) throw badRequest(['name'], 'is required for a new collection')
  const base = current ?? emptyCollection(newId(), row.name ?? '', handle, now)
  const isSmart = (row.membership_type ?? base.membershipType) === 'SMART'
  const rules = isSmart && cell !== undefined ? rulesIn(cell) : undefined
  return withChanges(base, { ...body, rules, seo: { title: seo_title, description: seo_description } }, undefined)
}

/** Reads the rules in a cell, which are JSON. Throws `bad_request` with the API's message. */
function rulesIn(cell: string): Rules {
  try {
    const rules = readRules(JSON.parse(cell))
    refuseUnstorable(rules, 'rules')
    return rules
  } catch (error) {
    if (error instanceof SyntaxError) throw badRequest(['rules'], `malformed JSON: ${error.message}`)
    throw error instanceof ApiError ? badRequest(['rules'], error.message) : error
  }
}
