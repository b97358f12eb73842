import { Handle, MEMBERSHIP_TYPES, SORT_ORDERS } from '@backoffice/contracts/collection.ts'
import { Description, Id, Name, TimestampInput } from '@backoffice/contracts/fields.ts'
import { z } from 'zod'

const Seo = z.strictObject({ title: Name.nullish(), description: Description.nullish() })

const MEMBERS = {
  description: Description.nullish(),
  image: Id.nullish(),
  seo: Seo.nullish(),
  sort_order: z.enum(SORT_ORDERS).optional(),
  membership_type: z.enum(MEMBERSHIP_TYPES).optional(),
  // Read only for a collection that is SMART (spec: Collection input); its shape is checked there.
  rules: z.unknown().optional().describe('As in POST /v1/collections/preview; required when SMART, ignored otherwise'),
  published: z.boolean().optional(),
  publish_at: TimestampInput.nullish(),
  unpublish_at: TimestampInput.nullish(),
}

export const CreateCollectionBody = z.strictObject({ name: Name, handle: Handle.nullish(), ...MEMBERS })
export type CreateCollectionBody = z.output<typeof CreateCollectionBody>

/** Partial by presence; the handle stays when the name changes (OP-113). */
export const UpdateCollectionBody = z.strictObject({ name: Name.optional(), handle: Handle.optional(), ...MEMBERS })
export type UpdateCollectionBody = z.output<typeof UpdateCollectionBody>
