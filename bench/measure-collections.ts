import { type PasswordOf, roleUrl } from '@backoffice/postgres/provision.ts'
import postgres from 'postgres'
import { measureCollectionBuild } from './measure-collection-build.ts'
import { measureCollectionChanges } from './measure-collection-changes.ts'
import { measureCollectionOrder } from './measure-collection-order.ts'
import { createSmallCollections, measureCollectionList, measureCollectionProducts } from './measure-collection-reads.ts'
import { measureCollectionRebuild } from './measure-collection-rebuild.ts'
import { peakMemory } from './peak-memory.ts'
import { type CollectionPlace, PRODUCTS, seedProductProjection } from './seed-product-projection.ts'
import type { Row } from './table.ts'

const ORDERED = PRODUCTS / 10

/** The stack and workspace that collections are measured in. */
type Place = Pick<CollectionPlace, 'api' | 'workspaceId' | 'description'> & { readonly passwordOf: PasswordOf }

/** Measures collections of a workspace with a million products, most of them SMART, and the memory of the services. */
export async function measureCollections({ passwordOf, ...large }: Place): Promise<Row[]> {
  const stack = large.description()
  const place: CollectionPlace = {
    ...large,
    databaseUrl: roleUrl(stack.postgres, 'collections', passwordOf),
    workerUrl: roleUrl(stack.postgres, 'collections_worker', passwordOf),
    postgresUrl: stack.postgres,
  }
  peakMemory(stack.services.collections?.pid ?? 0)
  const rows = await measureWorkspace(place)
  const peak = peakMemory(place.description().services.collections?.pid ?? 0)
  return [
    ...rows,
    { name: 'peak memory of collections', measured: `${Math.round(peak / 1e6)} MB`, bound: '≤ 250 MB' },
    ...(await measureCollectionRebuild(stack, passwordOf)),
  ]
}

async function measureWorkspace(place: CollectionPlace): Promise<Row[]> {
  const collections = await seedProductProjection(place)
  const products = await someProducts(place)
  await createSmallCollections(place, products)
  const small = await measureCollectionList(place, 'all of 10 products')
  const built = await measureCollectionBuild(place)
  return [
    small,
    await measureCollectionList(place, `one of ${PRODUCTS.toLocaleString('en')} products`),
    ...(await measureCollectionProducts(place)),
    ...built,
    ...(await measureCollectionChanges(place, collections)),
    ...(await measureCollectionOrder(place, products)),
  ]
}

/** Ids of products in random order. */
async function someProducts({ postgresUrl, workspaceId }: CollectionPlace): Promise<string[]> {
  const sql = postgres(postgresUrl, { max: 1, onnotice: () => undefined })
  const products = await sql<{ id: string }[]>`
    select id from collections.product where workspace_id = ${workspaceId} order by random() limit ${ORDERED}`
  await sql.end()
  return products.map(({ id }) => id)
}
