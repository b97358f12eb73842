import { notFound, unprocessable } from '@backoffice/contracts/errors.ts'
import { CategorySlug, Id, Name } from '@backoffice/contracts/fields.ts'
import { z } from 'zod'

/** Positions are PostgreSQL integers. */
const Position = z.int().min(0).max(2_147_483_647)

/** What a category is made of; `parent` null is a root (OP-38). */
export const CreateCategoryBody = z.strictObject({
  name: Name,
  slug: CategorySlug.nullish(),
  parent: Id.nullish(),
  position: Position.optional(),
})

/** Partial by presence (OP-38). */
export const UpdateCategoryBody = z.strictObject({
  name: Name.optional(),
  slug: CategorySlug.optional(),
  parent: Id.nullable().optional(),
  position: Position.optional(),
})
export type UpdateCategoryBody = z.output<typeof UpdateCategoryBody>

export const noSuchCategory = (id: string) => notFound(`id: this workspace has no category ${id}`)

export const unknownCategory = (member: string, id: string) =>
  unprocessable(`${member}: this workspace has no category ${id}`)
