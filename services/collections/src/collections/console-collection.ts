import { COLLECTION, Collection } from '@backoffice/contracts/collection.ts'
import { namedObject } from '@backoffice/contracts/named.ts'
import type { Transaction } from '@backoffice/postgres/database.ts'
import { z } from 'zod'
import { type CollectionRecord, collectionBody, collectionColumns, isNamed, productCount } from './collection.ts'

const { membership_type, rules, published, publish_at, unpublish_at } = COLLECTION.shapes.settings

/** A collection as those see it who may change it: with what `/v1` never shows (spec: Collection). */
export const ConsoleCollection = namedObject('ConsoleCollection', {
  ...Collection.shape,
  membership_type,
  rules,
  published,
  publish_at,
  unpublish_at,
  /** Whether its products are being gathered anew: until then it shows the former ones (OP-115). */
  is_gathering: z.boolean(),
})
type ConsoleCollection = z.output<typeof ConsoleCollection>

export interface ConsoleRecord extends CollectionRecord {
  readonly productCount: number
  readonly isGathering: boolean
}

/** The columns of a `ConsoleRecord`, from `collection`. */
export const consoleColumns = (tx: Transaction) => tx`
  ${collectionColumns(tx)}, ${productCount(tx)} as "productCount",
  exists (
    select from membership_version as version
    where version.workspace_id = collection.workspace_id and version.collection_id = collection.id and state = 'BUILDING'
  ) as "isGathering"`

export function consoleBody({ productCount, isGathering, ...collection }: ConsoleRecord): ConsoleCollection {
  const { image, seo, ...settings } = COLLECTION.settingsOf(collection, { image: null, seo: null })
  return { ...collectionBody(collection, productCount), ...settings, is_gathering: isGathering }
}

/** A collection as the console's GET answers it; undefined where there is none. */
export async function readForConsole(tx: Transaction, handleOrId: string): Promise<ConsoleCollection | undefined> {
  const [collection] = await tx<ConsoleRecord[]>`
    select ${consoleColumns(tx)} from collection where ${isNamed(tx, handleOrId)}`
  return collection && consoleBody(collection)
}
