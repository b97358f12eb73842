import { unprocessable } from '@backoffice/contracts/errors.ts'
import { CategorySlug, Id, Name, Position } from '@backoffice/contracts/fields.ts'
import { named } from '@backoffice/contracts/named.ts'
import { z } from 'zod'

/** The members of a new category; a root has the parent null (OP-38). */
export const CreateCategoryBody = named(
  'CategoryInput',
  z.strictObject({
    name: Name,
    slug: CategorySlug.nullish(),
    parent: Id.nullish(),
    position: Position.optional(),
  }),
  { name: 'Shirts' },
)

/** Only the members that are sent change (OP-38). */
export const UpdateCategoryBody = named(
  'CategoryUpdate',
  z.strictObject({
    name: Name.optional(),
    slug: CategorySlug.optional(),
    parent: Id.nullable().optional(),
    position: Position.optional(),
  }),
)
export type UpdateCategoryBody = z.output<typeof UpdateCategoryBody>

export const unknownCategory = (member: string, id: string) =>
  unprocessable([member], `this workspace has no category ${id}`)
