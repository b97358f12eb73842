import type { CategoryReference, Tag } from '@backoffice/contracts/product.ts'
import type { Transaction } from '@backoffice/postgres/database.ts'
import { v7 as uuidv7 } from 'uuid'
import type { AssetReference } from './plan-media.ts'
import type { PlannedOption } from './plan-product.ts'

/** What a product refers to by name, slug or id. */
export interface WantedReferences {
  readonly options: readonly PlannedOption[]
  readonly categoryIds: readonly string[]
  readonly categorySlugs: readonly string[]
  /** A legacy category by name, created if missing (spec: Product input for create). */
  readonly categoryName: NamedReference | undefined
  readonly tags: readonly NamedReference[]
  readonly assetIds: readonly string[]
}

export interface NamedReference {
  readonly name: string
  readonly slug: string
}

/** What the workspace has of it. */
export interface FoundReferences {
  readonly options: { id: string; name: string }[]
  readonly optionValues: { option_id: string; value: string }[]
  readonly categories: CategoryReference[]
  readonly tags: Tag[]
  readonly assets: AssetReference[]
}

/** What was made on the way, for the events that tell of it. */
export interface MadeReferences {
  readonly categories: { id: string; name: string; slug: string }[]
  readonly tags: Tag[]
}

const ROUNDS = 5

/**
 * Finds the options, values, categories, tags and assets a product refers to and makes the options, values, tags and the category
 * name that are missing. One statement when all exist, two when some are made; another round only when a concurrent
 * request made one of them first. Takes the lock under which the product's slug is then chosen.
 */
export async function resolveReferences(
  tx: Transaction,
  wanted: WantedReferences,
  slug: string,
  now: Date,
): Promise<{ found: FoundReferences; made: MadeReferences }> {
  const made: MadeReferences = { categories: [], tags: [] }
  for (let round = 0; round < ROUNDS; round++) {
    const found = await findReferences(tx, wanted, slug)
    const missing = missingReferences(wanted, found)
    if (missing === undefined) return { found, made }
    const justMade = await makeReferences(tx, missing, found, now)
    made.categories.push(...justMade.categories)
    made.tags.push(...justMade.tags)
    const all = withMade(found, justMade)
    if (missingReferences(wanted, all) === undefined) return { found: all, made }
  }
  throw new Error('options, categories and tags kept changing while they were being resolved')
}

async function findReferences(tx: Transaction, wanted: WantedReferences, slug: string): Promise<FoundReferences> {
  const workspace = tx.context.workspaceId
  const pairs = JSON.stringify(wanted.options.flatMap(({ name, values }) => values.map((value) => ({ name, value }))))
  const { name = null, slug: nameSlug = null } = wanted.categoryName ?? {}
  const [found] = await tx<[FoundReferences]>`
    select
      array(
        select json_build_object('id', id, 'name', name) from option
        where workspace_id = ${workspace} and name = any(${wanted.options.map((option) => option.name)})
      ) as options,
      array(
        select json_build_object('option_id', option_value.option_id, 'value', option_value.value)
        from json_to_recordset(${pairs}::text::json) as pair (name text, value text)
        join option on option.workspace_id = ${workspace} and option.name = pair.name
        join option_value on option_value.workspace_id = ${workspace}
          and option_value.option_id = option.id and option_value.value = pair.value
      ) as "optionValues",
      array(
        select json_build_object(
          'id', category.id, 'name', category.name, 'slug', category.slug,
          'parent', category.parent_id, 'parent_slug', parent.slug
        )
        from category
        left join category parent on parent.workspace_id = ${workspace} and parent.id = category.parent_id
        where category.workspace_id = ${workspace} and (
          category.id = any(${wanted.categoryIds as string[]}::uuid[])
          or category.slug = any(${wanted.categorySlugs as string[]})
          or category.name = ${name} or category.slug = ${nameSlug}
        )
        order by (category.name = ${name}) desc nulls last, category.created_at
      ) as categories,
      array(
        select json_build_object('id', id, 'name', name, 'slug', slug) from tag
        where workspace_id = ${workspace} and slug = any(${wanted.tags.map((tag) => tag.slug)})
      ) as tags,
      array(
        select json_build_object('id', id, 'path', path, 'thumbnailPath', thumbnail_path, 'type', type) from asset
        where workspace_id = ${workspace} and id = any(${wanted.assetIds as string[]}::uuid[])
      ) as assets,
      pg_advisory_xact_lock(hashtextextended(${`${workspace}/${slug}`}, 0))`
  return found
}

/** What of the wanted is not there and can be made; undefined when nothing is missing. Unknown category ids and slugs are not made. */
function missingReferences(wanted: WantedReferences, found: FoundReferences) {
  const idByName = new Map(found.options.map(({ id, name }) => [name, id]))
  const knownValues = new Set(found.optionValues.map(({ option_id, value }) => `${option_id} ${value}`))
  const options = wanted.options.filter(({ name }) => !idByName.has(name)).map(({ name }) => name)
  const values = wanted.options.flatMap(({ name, values }) =>
    values.filter((value) => !knownValues.has(`${idByName.get(name)} ${value}`)).map((value) => ({ name, value })),
  )
  const { categoryName } = wanted
  const category = categoryName !== undefined && found.categories.length === 0 ? categoryName : undefined
  const tags = wanted.tags.filter(({ slug }) => !found.tags.some((tag) => tag.slug === slug))
  const nothing = options.length + values.length + tags.length === 0 && category === undefined
  return nothing ? undefined : { options, values, category, tags }
}

type Missing = NonNullable<ReturnType<typeof missingReferences>>
type Made = MadeReferences & Pick<FoundReferences, 'options' | 'optionValues'>

/** Makes what is missing, in name order so that concurrent requests queue rather than deadlock. What another request makes first is left to it. */
async function makeReferences(tx: Transaction, missing: Missing, found: FoundReferences, now: Date): Promise<Made> {
  const workspace = tx.context.workspaceId
  const withIds = <Item>(items: Item[]) => JSON.stringify(items.map((item) => ({ id: uuidv7(), ...item })))
  const [made] = await tx<[Made]>`
    with made_option as (
      insert into option (workspace_id, id, name)
      select ${workspace}, id, name
      from json_to_recordset(${withIds(missing.options.map((name) => ({ name })))}::text::json) as new (id uuid, name text)
      order by name
      on conflict (workspace_id, name) do nothing
      returning id, name
    ), made_value as (
      insert into option_value (workspace_id, option_id, value)
      select ${workspace}, option.id, pair.value
      from json_to_recordset(${JSON.stringify(missing.values)}::text::json) as pair (name text, value text)
      join (
        select id, name from made_option
        union all
        select id, name from json_to_recordset(${JSON.stringify(found.options)}::text::json) as known (id uuid, name text)
      ) as option on option.name = pair.name
      order by option.id, pair.value
      on conflict do nothing
      returning option_id, value
    ), made_category as (
      insert into category (workspace_id, id, name, slug, created_at, updated_at)
      select ${workspace}, id, name, slug, ${now}, ${now}
      from json_to_recordset(${withIds(missing.category ? [missing.category] : [])}::text::json)
        as new (id uuid, name text, slug text)
      on conflict (workspace_id, slug) do nothing
      returning id, name, slug
    ), made_tag as (
      insert into tag (workspace_id, id, name, slug)
      select ${workspace}, id, name, slug
      from json_to_recordset(${withIds(missing.tags)}::text::json) as new (id uuid, name text, slug text)
      order by slug
      on conflict (workspace_id, slug) do nothing
      returning id, name, slug
    )
    select
      array(select to_json(made_option) from made_option) as options,
      array(select to_json(made_value) from made_value) as "optionValues",
      array(select to_json(made_category) from made_category) as categories,
      array(select to_json(made_tag) from made_tag) as tags`
  return made
}

const withMade = (found: FoundReferences, made: Made): FoundReferences => ({
  options: [...found.options, ...made.options],
  optionValues: [...found.optionValues, ...made.optionValues],
  categories: [...found.categories, ...made.categories.map((made) => ({ ...made, parent: null, parent_slug: null }))],
  tags: [...found.tags, ...made.tags],
  assets: found.assets,
})
