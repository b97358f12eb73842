import { LIMITS } from '@backoffice/contracts/limits.ts'
import type { CategoryReference, Tag } from '@backoffice/contracts/product.ts'
import { commaSeparated } from '@backoffice/postgres/comma-separated.ts'
import type { Transaction } from '@backoffice/postgres/database.ts'
import {
  lockedFamilies,
  type NumberedSlugs,
  type SlugFamily,
  slugChooser,
  takenOrRepeatedSlugs,
} from '@backoffice/postgres/slug-families.ts'
import { newId } from '@backoffice/runtime/clock.ts'
import { CATEGORY_SLUGS } from './category-slug.ts'
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

/** A name, and the slug that it gives before that is made unique. */
export type NamedReference = Omit<Tag, 'id'>

/** The name that a category or tag gets which is made on the way: with single spaces, and composed where that fits. */
export function keptName(name: string): string {
  const spaced = name.trim().replace(/\s+/g, ' ')
  const composed = spaced.normalize('NFC')
  return [...composed].length <= LIMITS.nameLength ? composed : spaced
}

/** The forms in which a name may be stored: as sent, by the operations on categories, and as kept. */
export const namesOf = ({ name }: { readonly name: string }): string[] => [name, keptName(name), name.normalize('NFD')]

/** Categories and tags are the same when their names are, in this form (OP-25). Nearly always their slugs are, too. */
export const foldedName = ({ name }: { readonly name: string }): string => keptName(name).toLowerCase()

/**
 * The wanted references that the workspace has, and the holders of the slugs that the wanted names give; of categories
 * and tags of one name the oldest first.
 */
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

const TAG_SLUGS: NumberedSlugs = { table: 'tag', lockPrefix: (workspace) => `${workspace} tag ` }

const ROUNDS = 8

/**
 * Finds the wanted references and creates the options, tags and the category name that are missing; in a check these
 * only get an id. No statement when nothing is wanted, one when all exist, two when some are created. Names whose slugs
 * others have wait for the families of these (decision 002), and are looked for again, since a request before may have
 * created them. Another round follows, too, when a concurrent request created one of the names first.
 */
export async function resolveReferences(
  tx: Transaction,
  wanted: WantedReferences,
  now: Date,
  isCheck = false,
): Promise<{ found: FoundReferences; newReferences: CreatedReferences }> {
  const newReferences: CreatedReferences = { categories: [], tags: [] }
  let families: Families = NO_FAMILIES
  for (let round = 0; round < ROUNDS; round++) {
    const found = await findReferences(tx, wanted)
    const missing = missingReferences(wanted, found)
    if (!isCheck && needsFamilies(missing, found, families)) {
      families = await lockReferenceFamilies(tx, missing, found)
      continue
    }
    const created = isCheck || numberOf(missing) === 0 ? missing : await createReferences(tx, missing, families, now)
    families = NO_FAMILIES
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
  const lowered = (references: readonly NamedReference[]) =>
    tx`array(select lower(name) from unnest(${references.flatMap(namesOf)}::text[]) as name)`
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
          ) order by category.created_at, category.id
        ), '[]')
        from category
        left join category parent on parent.workspace_id = ${workspace} and parent.id = category.parent_id
        where category.workspace_id = ${workspace} and category.deleted_slug is null and (
          category.id = any(${categoryIds as string[]}::uuid[])
          or category.slug = any(${[...categorySlugs, ...categoryNames.map(({ slug }) => slug)]})
          or category.folded_name = any(${lowered(categoryNames)})
        )
      ) as categories`,
    tags.length > 0 &&
      tx`(
        select coalesce(json_agg(json_build_object('id', id, 'name', name, 'slug', slug) order by id), '[]') from tag
        where workspace_id = ${workspace} and deleted_slug is null
          and (slug = any(${tags.map(({ slug }) => slug)}) or folded_name = any(${lowered(tags)}))
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

/** The category of exactly that name or, without one, of a name that is the same. */
export const categoryCalled = (named: NamedReference, categories: readonly CategoryReference[]) =>
  categories.find(({ name }) => name === named.name) ??
  categories.find((category) => foldedName(category) === foldedName(named))

type Creatable = Omit<FoundReferences, 'assets'>

/** The references that are missing and can be created, with new ids. Those by a category's id or slug cannot. */
function missingReferences(wanted: WantedReferences, found: FoundReferences): Creatable {
  const { options = [], categoryNames = [], tags = [] } = wanted
  const knownOptions = new Set(found.options.map(({ name }) => name))
  const made = (named: NamedReference) => ({ id: newId(), name: keptName(named.name), slug: named.slug })
  return {
    options: options.filter((name) => !knownOptions.has(name)).map((name) => ({ id: newId(), name })),
    categories: withoutNames(categoryNames, found.categories).map((named) => ({
      ...made(named),
      parent: null,
      parent_slug: null,
    })),
    tags: withoutNames(tags, found.tags).map(made),
  }
}

/** The references, each name once, whose names none of the others has. */
function withoutNames(named: readonly NamedReference[], others: readonly { name: string }[]): NamedReference[] {
  const known = new Set(others.map(foldedName))
  return named.filter((reference) => known.size < known.add(foldedName(reference)).size)
}

type Families = Readonly<Record<'categories' | 'tags', readonly SlugFamily[]>>

const NO_FAMILIES: Families = { categories: [], tags: [] }

/** The slugs of missing references that others have, of one kind. */
const clashes = (missing: Creatable, found: FoundReferences, kind: keyof Families): string[] => {
  const taken = new Set(found[kind].map(({ slug }) => slug))
  const derived = missing[kind].map(({ slug }) => slug)
  return takenOrRepeatedSlugs(derived, (slug) => taken.has(slug)).toSorted()
}

/** Whether a slug that others have is not among the families that are locked. */
function needsFamilies(missing: Creatable, found: FoundReferences, families: Families): boolean {
  const lacks = (kind: keyof Families) => {
    const locked = new Set(families[kind].map(({ slug }) => slug))
    return clashes(missing, found, kind).some((slug) => !locked.has(slug))
  }
  return lacks('categories') || lacks('tags')
}

async function lockReferenceFamilies(tx: Transaction, missing: Creatable, found: FoundReferences): Promise<Families> {
  const [families] = await tx<[Families]>`
    select
      ${lockedFamilies(tx, CATEGORY_SLUGS, clashes(missing, found, 'categories'))} as categories,
      ${lockedFamilies(tx, TAG_SLUGS, clashes(missing, found, 'tags'))} as tags`
  return families
}

/** The references with the slugs that they get. */
function numbered<Reference extends NamedReference>(
  references: readonly Reference[],
  families: readonly SlugFamily[],
): Reference[] {
  const derived = references.map(({ slug }) => slug)
  const choose = slugChooser(families, new Set(), derived)
  return references.map((reference) => ({ ...reference, slug: choose(reference.slug) }))
}

/**
 * Creates the missing references in name order, so that concurrent requests queue rather than deadlock. Returns none
 * that another request created first.
 */
async function createReferences(
  tx: Transaction,
  { options, categories, tags }: Creatable,
  families: Families,
  now: Date,
): Promise<Creatable> {
  const workspace = tx.context.workspaceId
  const newCategories = numbered(categories, families.categories)
  const newTags = numbered(tags, families.tags)
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
      from json_to_recordset(${JSON.stringify(newCategories)}::text::json)
        as new (id uuid, name text, slug text)
      order by slug
      on conflict (workspace_id, slug) do nothing
      returning id, name, slug, parent_id as parent, null as parent_slug
    ), created_tag as (
      insert into tag (workspace_id, id, name, slug)
      select ${workspace}, id, name, slug
      from json_to_recordset(${JSON.stringify(newTags)}::text::json) as new (id uuid, name text, slug text)
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
