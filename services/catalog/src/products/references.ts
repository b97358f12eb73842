import type { CategoryReference, Tag } from '@backoffice/contracts/product.ts'
import { commaSeparated } from '@backoffice/postgres/comma-separated.ts'
import type { Transaction } from '@backoffice/postgres/database.ts'
import type { NumberedSlugs } from '@backoffice/postgres/slug-families.ts'
import { v7 as uuidv7 } from 'uuid'
import type { AssetReference } from './plan-media.ts'

/** The things that a product, or several, refer to by name, slug or id. */
export interface WantedReferences {
  /** Names of options. */
  readonly options?: readonly string[]
  readonly categoryIds?: readonly string[]
  readonly categorySlugs?: readonly string[]
  /** Legacy categories by name, created if missing (spec: Product input for create). */
  readonly categoryNames?: readonly NamedReference[]
  readonly tags?: readonly NamedReference[]
  readonly assetIds?: readonly string[]
}

export type NamedReference = Omit<Tag, 'id'>

/** The wanted references that the workspace has; of categories of one name the oldest first. */
export interface FoundReferences {
  readonly options: { id: string; name: string }[]
  readonly categories: CategoryReference[]
  readonly tags: Tag[]
  readonly assets: AssetReference[]
}

/** References that were created, for the events about them. */
export type CreatedReferences = Pick<FoundReferences, 'categories' | 'tags'>

/** Slugs of products (OP-14). */
export const PRODUCT_SLUGS: NumberedSlugs = { table: 'product', lockPrefix: (workspace) => `${workspace}/` }

const ROUNDS = 5

/**
 * Finds the wanted references and creates the options, tags and the category name that are missing; in a check these
 * only get an id. No statement when nothing is wanted, one when all exist, two when some are created; another round
 * only when a concurrent request created one of them first.
 */
export async function resolveReferences(
  tx: Transaction,
  wanted: WantedReferences,
  now: Date,
  isCheck = false,
): Promise<{ found: FoundReferences; newReferences: CreatedReferences }> {
  const newReferences: CreatedReferences = { categories: [], tags: [] }
  for (let round = 0; round < ROUNDS; round++) {
    const found = await findReferences(tx, wanted)
    const missing = missingReferences(wanted, found)
    const created = isCheck || numberOf(missing) === 0 ? missing : await createReferences(tx, missing, now)
    newReferences.categories.push(...created.categories)
    newReferences.tags.push(...created.tags)
    if (numberOf(created) === numberOf(missing)) return { found: withCreated(found, created), newReferences }
  }
  throw new Error('options, categories and tags kept changing while they were being resolved')
}

const numberOf = ({ options, categories, tags }: Creatable): number => options.length + categories.length + tags.length

const withCreated = (found: FoundReferences, { options, categories, tags }: Creatable): FoundReferences => ({
  ...found,
  options: [...found.options, ...options],
  categories: [...found.categories, ...categories],
  tags: [...found.tags, ...tags],
})

/** The ids, by name, of the workspace's options of these names, created where missing; a check creates none. */
export async function resolveOptions(
  tx: Transaction,
  names: readonly string[],
  now: Date,
  isCheck = false,
): Promise<ReadonlyMap<string, string>> {
  const { found } = await resolveReferences(tx, { options: names }, now, isCheck)
  return new Map(found.options.map(({ id, name }) => [name, id]))
}

/**
 * Looks only for the kinds of references that are wanted: most products refer to few. Each kind is one JSON text, since
 * the driver parses an array of 1,000 letter by letter.
 */
async function findReferences(tx: Transaction, wanted: WantedReferences): Promise<FoundReferences> {
  const workspace = tx.context.workspaceId
  const { options = [], categoryIds = [], categorySlugs = [], categoryNames = [], tags = [], assetIds = [] } = wanted
  const columns = [
    options.length > 0 &&
      tx`(
        select coalesce(json_agg(json_build_object('id', id, 'name', name)), '[]') from option
        where workspace_id = ${workspace} and name = any(${options as string[]})
      ) as options`,
    (categoryIds.length > 0 || categorySlugs.length > 0 || categoryNames.length > 0) &&
      tx`(
        select coalesce(json_agg(
          json_build_object(
            'id', category.id, 'name', category.name, 'slug', category.slug,
            'parent', category.parent_id, 'parent_slug', parent.slug
          ) order by category.created_at
        ), '[]')
        from category
        left join category parent on parent.workspace_id = ${workspace} and parent.id = category.parent_id
        where category.workspace_id = ${workspace} and category.deleted_slug is null and (
          category.id = any(${categoryIds as string[]}::uuid[])
          or category.slug = any(${[...categorySlugs, ...categoryNames.map(({ slug }) => slug)]})
          or category.name = any(${categoryNames.map(({ name }) => name)})
        )
      ) as categories`,
    tags.length > 0 &&
      tx`(
        select coalesce(json_agg(json_build_object('id', id, 'name', name, 'slug', slug)), '[]') from tag
        where workspace_id = ${workspace} and slug = any(${tags.map((tag) => tag.slug)})
      ) as tags`,
    assetIds.length > 0 &&
      tx`(
        select coalesce(
          json_agg(json_build_object('id', id, 'path', path, 'thumbnailPath', thumbnail_path, 'type', type)), '[]'
        ) from asset
        where workspace_id = ${workspace} and id = any(${assetIds as string[]}::uuid[])
      ) as assets`,
  ].filter((column) => column !== false)
  const [found] =
    columns.length === 0 ? [] : await tx<[Partial<FoundReferences>]>`select ${commaSeparated(tx, columns)}`
  return { options: [], categories: [], tags: [], assets: [], ...found }
}

/** The category of that name or, without one, of the slug that it makes. */
export const categoryCalled = ({ name, slug }: NamedReference, categories: readonly CategoryReference[]) =>
  categories.find((category) => category.name === name) ?? categories.find((category) => category.slug === slug)

type Creatable = Omit<FoundReferences, 'assets'>

/** The references that are missing and can be created, with new ids. Those by a category's id or slug cannot. */
function missingReferences(wanted: WantedReferences, found: FoundReferences): Creatable {
  const { options = [], categoryNames = [], tags = [] } = wanted
  const knownOptions = new Set(found.options.map(({ name }) => name))
  const knownTags = new Set(found.tags.map(({ slug }) => slug))
  return {
    options: options.filter((name) => !knownOptions.has(name)).map((name) => ({ id: uuidv7(), name })),
    categories: categoryNames
      .filter((named) => categoryCalled(named, found.categories) === undefined)
      .map((named) => ({ ...named, id: uuidv7(), parent: null, parent_slug: null })),
    tags: tags.filter(({ slug }) => !knownTags.has(slug)).map((tag) => ({ ...tag, id: uuidv7() })),
  }
}

/**
 * Creates the missing references in name order, so that concurrent requests queue rather than deadlock. Returns none
 * that another request created first.
 */
async function createReferences(
  tx: Transaction,
  { options, categories, tags }: Creatable,
  now: Date,
): Promise<Creatable> {
  const workspace = tx.context.workspaceId
  const [created] = await tx<[Creatable]>`
    with created_option as (
      insert into option (workspace_id, id, name)
      select ${workspace}, id, name
      from json_to_recordset(${JSON.stringify(options)}::text::json) as new (id uuid, name text)
      order by name
      on conflict (workspace_id, name) do nothing
      returning id, name
    ), created_category as (
      insert into category (workspace_id, id, name, slug, created_at, updated_at)
      select ${workspace}, id, name, slug, ${now}, ${now}
      from json_to_recordset(${JSON.stringify(categories)}::text::json)
        as new (id uuid, name text, slug text)
      order by slug
      on conflict (workspace_id, slug) do nothing
      returning id, name, slug, parent_id as parent, null as parent_slug
    ), created_tag as (
      insert into tag (workspace_id, id, name, slug)
      select ${workspace}, id, name, slug
      from json_to_recordset(${JSON.stringify(tags)}::text::json) as new (id uuid, name text, slug text)
      order by slug
      on conflict (workspace_id, slug) do nothing
      returning id, name, slug
    )
    select
      (select coalesce(json_agg(created_option), '[]') from created_option) as options,
      (select coalesce(json_agg(created_category), '[]') from created_category) as categories,
      (select coalesce(json_agg(created_tag), '[]') from created_tag) as tags`
  return created
}
