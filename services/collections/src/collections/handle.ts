import { RESERVED_HANDLES } from '@backoffice/contracts/collection.ts'
import { isId } from '@backoffice/contracts/fields.ts'
import { LIMITS } from '@backoffice/contracts/limits.ts'
import { slugify } from '@backoffice/contracts/slug.ts'
import { z } from 'zod'

/** A collection in paths: its handle or its id (spec: Collections). */
export const CollectionPath = z.strictObject({ handle: z.string().min(1).max(LIMITS.nameLength).normalize('NFC') })

/** The handle that a name gives, before it is made unique: one that `Handle` takes, its number too (OP-32). */
export function handleOf(name: string): string {
  const handle = slugify(name, 'collection')
  const isFree = !isId(handle) && !RESERVED_HANDLES.includes(handle)
  return isFree ? handle : slugify(`collection ${handle}`, 'collection')
}
