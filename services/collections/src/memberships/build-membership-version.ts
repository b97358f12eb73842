import type { SqlPart } from '@backoffice/postgres/comma-separated.ts'
import type { AnySql } from '@backoffice/postgres/database.ts'
import { NIL } from 'uuid'
import type { CompiledRules } from '../rules/compile.ts'
import type { Rules } from '../rules/rules.ts'
import { raiseRuleVersion } from './rule-sets.ts'
import { UnreadableVersions } from './unreadable-versions.ts'

type BuildingVersion = {
  workspaceId: string
  collectionId: string
  number: number
  sortOrder: string
  /** Members of products up to this id are inserted. */
  processedTo: string
} & ({ source: 'HAND_PICKED' } | { source: 'RULES'; rules: Rules })

/**
 * Inserts the members of the next `size` products, by id, into a BUILDING version; after the last it is CURRENT. Needs
 * the EXCLUSIVE lock. No member is there yet: changes of products insert up to `processed_to` only. Versions with a
 * first chunk come first: requests build it themselves. Skips those in `unreadable`, and adds to them.
 */
export async function buildChunk(
  sql: AnySql,
  workspaceId: string,
  size: number,
  unreadable = new UnreadableVersions(),
): Promise<void> {
  const [version] = await sql<BuildingVersion[]>`
    select workspace_id as "workspaceId", collection_id as "collectionId", number, source, rules,
      sort_order as "sortOrder", coalesce(processed_to, ${NIL}) as "processedTo"
    from membership_version
    where workspace_id = ${workspaceId} and state = 'BUILDING' and number <> all(${[...unreadable.numbers]}::bigint[])
    order by processed_to is null, collection_id limit 1`
  if (version === undefined) return
  let last: string | undefined
  if (version.source === 'HAND_PICKED') last = await buildFromHandPicked(sql, version, size)
  else {
    const rules = unreadable.compile(version)
    if (rules === null) return
    last = await buildFromRules(sql, version, rules, size)
  }
  if (last === undefined) await makeCurrent(sql, version)
  else await sql`update membership_version set processed_to = ${last} where number = ${version.number}`
}

/** Whether a version has this product's membership already; one that is BUILDING has those up to `processed_to`. */
export const coversProduct = (sql: AnySql, productId: SqlPart) => sql`
  (membership_version.state <> 'BUILDING' or ${productId} <= membership_version.processed_to)`

/** Returns the id of the chunk's last product; undefined after the last chunk. */
async function buildFromRules(
  sql: AnySql,
  version: BuildingVersion,
  rules: CompiledRules,
  size: number,
): Promise<string | undefined> {
  const { workspaceId, processedTo } = version
  const [last] = await sql<{ id: string }[]>`
    select id from product where workspace_id = ${workspaceId} and id > ${processedTo} order by id offset ${size - 1} limit 1`
  await insertMatchingProducts(sql, version, rules, { after: processedTo, last: last?.id })
  return last?.id
}

/** Returns the id of the chunk's last product; undefined after the last chunk. */
async function buildFromHandPicked(sql: AnySql, version: BuildingVersion, size: number): Promise<string | undefined> {
  const { workspaceId, collectionId, processedTo } = version
  const [source] = await sql<{ number: number }[]>`
    select number from membership_version
    where workspace_id = ${workspaceId} and collection_id = ${collectionId}
      and source = 'HAND_PICKED' and state in ('CURRENT', 'SAVED')`
  if (source === undefined) return undefined
  const [last] = await sql<{ id: string }[]>`
    select product_id as id from collection_member
    where version_number = ${source.number} and product_id > ${processedTo}
    order by product_id offset ${size - 1} limit 1`
  await copyHandPickedMembers(sql, version, source.number, { after: processedTo, last: last?.id })
  return last?.id
}

/** Makes a version CURRENT and retires the one before; rules save the hand-picked members instead. */
async function makeCurrent(sql: AnySql, { workspaceId, collectionId, number, source }: BuildingVersion): Promise<void> {
  await sql`
    update membership_version
    set state = case when source = 'HAND_PICKED' and ${source} = 'RULES' then 'SAVED' else 'RETIRED' end
    where workspace_id = ${workspaceId} and collection_id = ${collectionId}
      and (state = 'CURRENT' or state = 'SAVED' and ${source} = 'HAND_PICKED')`
  await sql`update membership_version set state = 'CURRENT', processed_to = null where number = ${number}`
  await raiseRuleVersion(sql, workspaceId)
}

/** The membership version that gets the members. */
export interface TargetVersion {
  readonly workspaceId: string
  readonly number: number
  readonly sortOrder: string
}

/** Product ids greater than `after`, up to and including `last`; without `last` all that follow. */
export interface IdRange {
  readonly after: string
  readonly last: string | undefined
}

/** Inserts the products of a range that match the rules as members. */
export const insertMatchingProducts = (
  sql: AnySql,
  { workspaceId, number, sortOrder }: TargetVersion,
  rules: CompiledRules,
  { after, last }: IdRange,
) => sql`
  insert into collection_member (workspace_id, version_number, product_id, position, sort_key, is_available)
  select workspace_id, ${number}::bigint, id, 0, sort_key(${sortOrder}, name, created_at, stock, 0, 0), status = 'ACTIVE'
  from product
  where workspace_id = ${workspaceId} and id > ${after} ${last ? sql`and id <= ${last}` : sql``}
    and ${rules.toSql(sql)}`

/** Copies the members of `source`; those without a product are unavailable until a rebuild or a state adds it. */
export const copyHandPickedMembers = (
  sql: AnySql,
  { number, sortOrder }: TargetVersion,
  source: number,
  { after, last }: IdRange,
) => sql`
  insert into collection_member (workspace_id, version_number, product_id, position, tie_breaker, sort_key, is_available)
  select member.workspace_id, ${number}::bigint, product_id, position, tie_breaker,
    coalesce(sort_key(${sortOrder}, name, created_at, stock, position, tie_breaker), ''), coalesce(status = 'ACTIVE', false)
  from collection_member as member
  left join product on product.workspace_id = member.workspace_id and product.id = member.product_id
  where version_number = ${source} and product_id > ${after} ${last ? sql`and product_id <= ${last}` : sql``}`
