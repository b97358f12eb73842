import { z } from 'zod'
import { Description, Id, isId, Name, OPTIONAL_DESCRIPTION, OPTIONAL_TIME, Slug, Timestamp } from './fields.ts'
import { LIMITS } from './limits.ts'
import { members } from './members.ts'
import { exampleOf, namedObject } from './named.ts'

/** The orders of products in a collection (spec: Collection). */
export const SORT_ORDERS = ['MANUAL', 'TITLE_ASC', 'TITLE_DESC', 'CREATED_ASC', 'CREATED_DESC', 'STOCK_DESC'] as const
export type SortOrder = (typeof SORT_ORDERS)[number]

/** Members are hand-picked or gathered by rules (spec: Collection input). */
export const MEMBERSHIP_TYPES = ['MANUAL', 'SMART'] as const
export type MembershipType = (typeof MEMBERSHIP_TYPES)[number]

/** Operations have these words at the handle's place in a path: such a collection would not be found (OP-113). */
export const RESERVED_HANDLES: readonly string[] = ['preview']

/** A handle in a request (OP-26). One that looks like an id would never be found (OP-32). */
export const Handle = Slug.refine((handle) => !isId(handle), 'must not look like a UUID').refine(
  (handle) => !RESERVED_HANDLES.includes(handle),
  'is reserved; send another one',
)

const Seo = namedObject('CollectionSeo', { title: Name.nullish(), description: Description.nullish() })
// Checked only for a SMART collection (spec: Collection input), by the schema of that name.
const Rules = z.unknown().optional().meta({ $ref: '#/components/schemas/Rules' })
const Text = z.string()
const Flag = z.boolean()
const SortOrder = z.enum(SORT_ORDERS)
const MembershipType = z.enum(MEMBERSHIP_TYPES)
const SEO_TEXT = { sql: 'text', shape: Text.nullable(), initial: null, shown: 'answer' } as const

/**
 * The members of a collection (spec: Collection; input OP-31). The cover image is kept in three columns, `seo` in two.
 */
export const COLLECTION = members({
  id: { sql: 'uuid', shape: Id, shown: 'answer' },
  handle: { sql: 'text', shape: Text, input: Handle, create: Handle.nullish(), imported: 'key', shown: 'answer' },
  name: { sql: 'text', shape: Text, input: Name, required: true, imported: true, shown: 'answer' },
  description: { ...OPTIONAL_DESCRIPTION, imported: true, shown: 'answer' },
  image: { shape: z.unknown(), input: Id, unset: null, shown: 'nobody' },
  image_url: { shape: Text.optional(), shown: 'answer' },
  image_thumbnail: { shape: Text.optional(), shown: 'answer' },
  seo: { shape: z.unknown(), input: Seo, unset: null, shown: 'nobody' },
  seo_title: { ...SEO_TEXT, imported: Name.optional() },
  seo_description: { ...SEO_TEXT, imported: Description.optional() },
  sort_order: { sql: 'text', shape: SortOrder, input: SortOrder, initial: 'MANUAL', imported: true, shown: 'answer' },
  membership_type: {
    sql: 'text',
    shape: MembershipType,
    input: MembershipType,
    initial: 'MANUAL',
    imported: true,
    shown: 'nobody',
  },
  rules: {
    sql: 'json',
    shape: z.unknown(),
    input: Rules,
    initial: null,
    imported: Text.max(LIMITS.descriptionLength).optional(),
    shown: 'nobody',
  },
  published: { sql: 'boolean', shape: Flag, input: Flag, initial: false, imported: true, shown: 'nobody' },
  publish_at: { ...OPTIONAL_TIME, imported: true, shown: 'nobody' },
  unpublish_at: { ...OPTIONAL_TIME, imported: true, shown: 'nobody' },
  product_count: { shape: z.int(), shown: 'answer' },
  created_at: { sql: 'timestamptz', shape: Timestamp, shown: 'answer' },
  updated_at: { sql: 'timestamptz', shape: Timestamp, shown: 'answer' },
})

/** The collection body (spec: Collection); both URLs are absent without a cover image. */
export const Collection = namedObject('Collection', COLLECTION.shapes.answer, {
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
})
export type Collection = z.output<typeof Collection>

/** The data of collection.created and collection.updated. Later members are optional here (product-records.ts). */
export const CollectionData = namedObject('CollectionData', COLLECTION.shapes.data, exampleOf(Collection))
