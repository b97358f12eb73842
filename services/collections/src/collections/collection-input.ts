import { COLLECTION } from '@backoffice/contracts/collection.ts'
import { named } from '@backoffice/contracts/named.ts'
import { z } from 'zod'

export const CreateCollectionBody = named('CollectionInput', z.strictObject(COLLECTION.shapes.create), {
  name: 'Summer',
  membership_type: 'SMART',
  rules: { match: 'all', conditions: [{ field: 'tag', operator: 'eq', value: 'summer' }] },
  seo: { title: 'Summer clothes' },
  sort_order: 'CREATED_DESC',
  published: true,
})
export type CreateCollectionBody = z.output<typeof CreateCollectionBody>

/** Missing members stay as they are; a new name does not change the handle (OP-113). */
export const UpdateCollectionBody = named('CollectionUpdate', z.strictObject(COLLECTION.shapes.update), {
  name: 'Summer sale',
  seo: null,
})
export type UpdateCollectionBody = z.output<typeof UpdateCollectionBody>
