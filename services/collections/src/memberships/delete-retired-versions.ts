import type { AnySql, Sql } from '@backoffice/postgres/database.ts'
import { inTransaction } from '@backoffice/postgres/transaction.ts'
import { NIL } from 'uuid'

interface RetiredVersion {
  number: number
  /** Members of products up to this id are deleted. */
  processedTo: string
}

/**
 * Deletes up to `size` members of one RETIRED membership version, and the version with its last member. Replicas take
 * different versions. Returns whether there was a version to delete from.
 */
export async function deleteFromRetiredVersion(sql: Sql, size: number): Promise<boolean> {
  return inTransaction(sql, async (tx) => {
    const [version] = await tx<RetiredVersion[]>`
      select number, coalesce(processed_to, ${NIL}) as "processedTo"
      from membership_version where state = 'RETIRED' limit 1 for update skip locked`
    if (version === undefined) return false
    const last = await deleteMembers(tx, version, size)
    if (last === undefined) await tx`delete from membership_version where number = ${version.number}`
    else await tx`update membership_version set processed_to = ${last} where number = ${version.number}`
    return true
  })
}

/**
 * Continues after the previous chunk: a search from the start would read the deleted rows that are not vacuumed yet.
 * Both statements read one range of the primary key, which needs no statistics of a version that is new. Returns the id
 * of the chunk's last product; undefined after the last chunk.
 */
async function deleteMembers(sql: AnySql, { number, processedTo }: RetiredVersion, size: number) {
  const remaining = sql`version_number = ${number} and product_id > ${processedTo}`
  const [last] = await sql<{ id: string }[]>`
    select product_id as id from collection_member where ${remaining} order by product_id offset ${size - 1} limit 1`
  await sql`delete from collection_member where ${remaining} ${last ? sql`and product_id <= ${last.id}` : sql``}`
  return last?.id
}
