import { isDeepStrictEqual } from 'node:util'
import { COLLECTION } from '@backoffice/contracts/collection.ts'
import { badRequest, unprocessable } from '@backoffice/contracts/errors.ts'
import type { z } from 'zod'
import { readRules } from '../rules/rules.ts'
import type { CollectionRecord } from './collection.ts'
import type { CoverImage } from './cover-image.ts'

/** The members that a request sends; a missing one stays as it is. */
type Sent = z.output<z.ZodObject<typeof COLLECTION.shapes.update>>

/** A new collection with the defaults of all fields but its name (OP-31). */
export const emptyCollection = (id: string, name: string, handle: string, now: Date): CollectionRecord => ({
  ...COLLECTION.initial,
  id,
  handle,
  name,
  image: null,
  createdAt: now,
  updatedAt: now,
})

/**
 * Applies a request (spec: Collections, Create/update rules). A collection that was SMART keeps its rules (OP-113).
 * Throws `bad_request` for a SMART one without valid rules, `unprocessable` for an `unpublish_at` that is not later.
 */
export function withChanges(
  before: CollectionRecord,
  body: Omit<Sent, 'handle'> & { handle?: string | null | undefined },
  image: CoverImage | undefined,
): CollectionRecord {
  const membershipType = body.membership_type ?? before.membershipType
  const after: CollectionRecord = {
    ...COLLECTION.changed(before, body),
    image: body.image === null ? null : (image ?? before.image),
    seoTitle: body.seo === null ? null : changed(body.seo?.title, before.seoTitle),
    seoDescription: body.seo === null ? null : changed(body.seo?.description, before.seoDescription),
    rules: membershipType === 'SMART' ? rulesOf(body.rules, before.rules) : before.rules,
  }
  if (after.publishAt && after.unpublishAt && after.unpublishAt <= after.publishAt) {
    throw unprocessable(['unpublish_at'], 'must be later than publish_at')
  }
  return after
}

/** Whether a change changes nothing (OP-73). */
export const isSameCollection = (one: CollectionRecord, other: CollectionRecord): boolean =>
  isDeepStrictEqual(one, other)

/** Whether a request may change the members or their order. The collection itself shows whether it does. */
export const mayChangeMembership = (
  body: Partial<Record<'membership_type' | 'rules' | 'sort_order', unknown>>,
): boolean => body.membership_type !== undefined || body.rules !== undefined || body.sort_order !== undefined

/** Whether a change keeps the members and their order. */
export const isSameMembership = (one: CollectionRecord, other: CollectionRecord): boolean =>
  one.membershipType === other.membershipType &&
  one.sortOrder === other.sortOrder &&
  (one.membershipType === 'MANUAL' || isDeepStrictEqual(one.rules, other.rules))

function rulesOf(sent: unknown, before: unknown) {
  const rules = sent === undefined ? before : sent
  if (rules === null) throw badRequest(['rules'], 'is required when membership_type is SMART')
  return sent === undefined ? before : readRules(sent)
}

/** A missing value keeps the one before; null unsets it. */
const changed = <Value>(sent: Value | null | undefined, before: Value | null): Value | null =>
  sent === undefined ? before : sent
