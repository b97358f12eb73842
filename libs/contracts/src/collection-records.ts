import { z } from 'zod'
import { Collection } from './collection.ts'

/** The data of collection.created and collection.updated. Later members are optional here (product-records.ts). */
export const CollectionData = z.strictObject({ ...Collection.shape })
