import { z } from 'zod'
import { Id, isId, Slug, Timestamp } from './fields.ts'
import { LIMITS } from './limits.ts'
import { named } from './named.ts'

/** The orders of products in a collection (spec: Collection). */
export const SORT_ORDERS = ['MANUAL', 'TITLE_ASC', 'TITLE_DESC', 'CREATED_ASC', 'CREATED_DESC', 'STOCK_DESC'] as const
export type SortOrder = (typeof SORT_ORDERS)[number]

/** Members are hand-picked or gathered by rules (spec: Collection input). */
export const MEMBERSHIP_TYPES = ['MANUAL', 'SMART'] as const
export type MembershipType = (typeof MEMBERSHIP_TYPES)[number]

/** Operations have these words at the handle's place in a path: such a collection would not be found (OP-113). */
export const RESERVED_HANDLES: readonly string[] = ['preview']

/**
 * A handle in a request (OP-26). One that looks like an id would never be found (OP-32). Composed (NFC) before its
 * length is checked, because clients encode accents in different ways and some letters become longer.
 */
export const Handle = Slug.normalize('NFC')
  .max(LIMITS.nameLength)
  .refine((handle) => !isId(handle), 'must not look like a UUID')
  .refine((handle) => !RESERVED_HANDLES.includes(handle), 'is reserved; send another one')

/** The collection body (spec: Collection); both URLs are absent without a cover image. */
export const Collection = named(
  'Collection',
  z.strictObject({
    id: Id,
    handle: z.string(),
    name: z.string(),
    description: z.string().nullable(),
    image_url: z.string().optional(),
    image_thumbnail: z.string().optional(),
    seo_title: z.string().nullable(),
    seo_description: z.string().nullable(),
    sort_order: z.enum(SORT_ORDERS),
    product_count: z.int(),
    created_at: Timestamp,
    updated_at: Timestamp,
  }),
  {
    id: '0198c7a0-0000-7000-8000-000000000010',
    handle: 'summer',
    name: 'Summer',
    description: null,
    seo_title: 'Summer clothes',
    seo_description: null,
    sort_order: 'CREATED_DESC',
    product_count: 1,
    created_at: '2026-03-01T12:00:00.000Z',
    updated_at: '2026-03-01T12:00:00.000Z',
  },
)
export type Collection = z.output<typeof Collection>
