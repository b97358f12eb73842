import type { SqlPart } from '@backoffice/postgres/comma-separated.ts'
import type { AnySql } from '@backoffice/postgres/database.ts'
import { NIL } from 'uuid'
import type { CompiledRules } from '../rules/compile.ts'
import type { Rules } from '../rules/rules.ts'
import { raiseRuleVersion } from './rule-sets.ts'
import { UnreadableVersions } from './unreadable-versions.ts'

/** A membership version that gets members, and its next chunk of products, by their ids. */
export interface GrowingVersion {
  readonly workspaceId: string
  readonly number: number
  readonly sortOrder: string
  /** The version with the hand-picked members, CURRENT or SAVED. */
  readonly handPicked: number | null
  /** Members of products up to this id are inserted. */
  readonly processedTo: string
  /** The last product of the chunk; null after the last chunk. */
  readonly lastId: string | null
}

type BuildingVersion = GrowingVersion & {
  readonly collectionId: string
} & ({ readonly source: 'HAND_PICKED' } | { readonly source: 'RULES'; readonly rules: Rules })

/** The column `lastId` of a `GrowingVersion`, for a chunk of `size` products; `source` is a column beside it. */
export const lastOfChunk = (sql: AnySql, workspaceId: string, size: number) => sql`
  case source when 'RULES' then (
    select id from product where workspace_id = ${workspaceId} and id > "processedTo" order by id offset ${size - 1} limit 1
  ) else (
    select product_id from collection_member where version_number = "handPicked" and product_id > "processedTo"
    order by product_id offset ${size - 1} limit 1
  ) end as "lastId"`

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
    select version.*, ${lastOfChunk(sql, workspaceId, size)}
    from (
      select workspace_id as "workspaceId", collection_id as "collectionId", number, source, rules,
        sort_order as "sortOrder", coalesce(processed_to, ${NIL}) as "processedTo",
        (
          select max(number) from membership_version as saved
          where saved.workspace_id = ${workspaceId} and saved.collection_id = building.collection_id
            and saved.source = 'HAND_PICKED' and saved.state in ('CURRENT', 'SAVED')
        ) as "handPicked"
      from membership_version as building
      where workspace_id = ${workspaceId} and state = 'BUILDING' and number <> all(${[...unreadable.numbers]}::bigint[])
      order by processed_to is null, collection_id limit 1
    ) as version`
  if (version === undefined) return
  const rules = version.source === 'RULES' ? await unreadable.compile(version) : undefined
  if (rules === null) return
  await insertMembers(sql, version, rules)
  if (version.lastId === null) await makeCurrent(sql, version)
  else await sql`update membership_version set processed_to = ${version.lastId} where number = ${version.number}`
}

/** Whether a version has this product's membership already; one that is BUILDING has those up to `processed_to`. */
export const coversProduct = (sql: AnySql, productId: SqlPart) => sql`
  (membership_version.state <> 'BUILDING' or ${productId} <= membership_version.processed_to)`

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

/** Inserts the members of the next chunk: the products that match the rules, or else the hand-picked ones. */
export async function insertMembers(sql: AnySql, version: GrowingVersion, rules: CompiledRules | undefined) {
  if (rules !== undefined) await insertMatchingProducts(sql, version, rules)
  else if (version.handPicked !== null) await copyHandPickedMembers(sql, version)
}

const insertMatchingProducts = (
  sql: AnySql,
  { workspaceId, number, sortOrder, processedTo, lastId }: GrowingVersion,
  rules: CompiledRules,
) => sql`
  insert into collection_member (workspace_id, version_number, product_id, position, sort_key, is_available)
  select workspace_id, ${number}::bigint, id, 0, sort_key(${sortOrder}, name, created_at, stock, 0, 0), status = 'ACTIVE'
  from product
  where workspace_id = ${workspaceId} and id > ${processedTo} ${lastId ? sql`and id <= ${lastId}` : sql``}
    and ${rules.toSql(sql)}`

/** Members without a product are unavailable until a rebuild or a state adds it. */
const copyHandPickedMembers = (
  sql: AnySql,
  { number, sortOrder, handPicked, processedTo, lastId }: GrowingVersion,
) => sql`
  insert into collection_member (workspace_id, version_number, product_id, position, tie_breaker, sort_key, is_available)
  select member.workspace_id, ${number}::bigint, product_id, position, tie_breaker,
    coalesce(sort_key(${sortOrder}, name, created_at, stock, position, tie_breaker), ''), coalesce(status = 'ACTIVE', false)
  from collection_member as member
  left join product on product.workspace_id = member.workspace_id and product.id = member.product_id
  where version_number = ${handPicked} and product_id > ${processedTo} ${lastId ? sql`and product_id <= ${lastId}` : sql``}`
