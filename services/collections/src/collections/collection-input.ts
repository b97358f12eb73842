import { Handle, MEMBERSHIP_TYPES, SORT_ORDERS } from '@backoffice/contracts/collection.ts'
import { Description, Id, Name, TimestampInput } from '@backoffice/contracts/fields.ts'
import { named } from '@backoffice/contracts/named.ts'
import { z } from 'zod'

const Seo = named('CollectionSeo', z.strictObject({ title: Name.nullish(), description: Description.nullish() }))

const MEMBERS = {
  description: Description.nullish(),
  image: Id.nullish(),
  seo: Seo.nullish(),
  sort_order: z.enum(SORT_ORDERS).optional(),
  membership_type: z.enum(MEMBERSHIP_TYPES).optional(),
  // Checked only for a SMART collection (spec: Collection input), in `withChanges`.
  rules: z.unknown().optional().describe('As in POST /v1/collections/preview; required when SMART, ignored otherwise'),
  published: z.boolean().optional(),
  publish_at: TimestampInput.nullish(),
  unpublish_at: TimestampInput.nullish(),
}

export const CreateCollectionBody = named(
  'CollectionInput',
  z.strictObject({ name: Name, handle: Handle.nullish(), ...MEMBERS }),
  {
    name: 'Summer',
    membership_type: 'SMART',
    rules: { match: 'all', conditions: [{ field: 'tag', operator: 'eq', value: 'summer' }] },
    seo: { title: 'Summer clothes' },
    sort_order: 'CREATED_DESC',
    published: true,
  },
)
export type CreateCollectionBody = z.output<typeof CreateCollectionBody>

/** Missing members stay as they are; a new name does not change the handle (OP-113). */
export const UpdateCollectionBody = named(
  'CollectionUpdate',
  z.strictObject({ name: Name.optional(), handle: Handle.optional(), ...MEMBERS }),
  { name: 'Summer sale', seo: null },
)
export type UpdateCollectionBody = z.output<typeof UpdateCollectionBody>
