import { z } from 'zod'
import { COLLECTION, Collection } from './collection.ts'
import { exampleOf, named } from './named.ts'

/** The data of collection.created and collection.updated. Later members are optional here (product-records.ts). */
export const CollectionData = named('CollectionData', z.strictObject(COLLECTION.shapes.data), exampleOf(Collection))
