import { RESERVED_HANDLES } from '@backoffice/contracts/collection.ts'
import { isId } from '@backoffice/contracts/fields.ts'
import { slugify } from '@backoffice/contracts/slug.ts'

/** The handle that a name gives, before it is made unique: one that `Handle` takes, its number too (OP-32). */
export function handleOf(name: string): string {
  const handle = slugify(name, 'collection')
  const isFree = !isId(handle) && !RESERVED_HANDLES.includes(handle)
  return isFree ? handle : slugify(`collection ${handle}`, 'collection')
}
