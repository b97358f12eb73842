import type { AnySql, Sql } from '@backoffice/postgres/database.ts'
import { inTransaction } from '@backoffice/postgres/transaction.ts'
import { BEFORE_ALL } from './build-generation.ts'

interface Old {
  workspaceId: string
  collectionId: string
  number: number
  /** How far its members are deleted already. */
  deletedTo: string
}

/**
 * Deletes some members of a generation that is OLD, and with the last of them the generation. Replicas take different ones. Returns
 * whether there was one.
 */
export async function deleteSome(sql: Sql, size: number): Promise<boolean> {
  return inTransaction(sql, async (tx) => {
    const [old] = await tx<Old[]>`
      select workspace_id as "workspaceId", collection_id as "collectionId", number, coalesce(built_to, ${BEFORE_ALL}) as "deletedTo"
      from generation where state = 'OLD' limit 1 for update skip locked`
    if (old === undefined) return false
    const last = await deleteMembers(tx, old, size)
    if (last === null) await deleteGeneration(tx, old)
    else await noteDeleted(tx, old, last)
    return true
  })
}

/** Goes on where the last chunk ended: from the beginning it would find its way through all that is deleted and not yet cleaned up. */
async function deleteMembers(sql: AnySql, old: Old, size: number): Promise<string | null> {
  const { workspaceId, collectionId, number, deletedTo } = old
  const [deleted] = await sql<[{ last: string | null }]>`
    with chunk as (
      select product_id from member
      where workspace_id = ${workspaceId} and collection_id = ${collectionId} and generation = ${number} and product_id > ${deletedTo}
      order by product_id limit ${size}
    ),
    gone as (
      delete from member using chunk
      where member.workspace_id = ${workspaceId} and member.collection_id = ${collectionId} and member.generation = ${number}
        and member.product_id = chunk.product_id
    )
    select case when count(*) = ${size} then (array_agg(product_id order by product_id desc))[1] end as last from chunk`
  return deleted.last
}

const noteDeleted = (sql: AnySql, { workspaceId, collectionId, number }: Old, last: string) => sql`
  update generation set built_to = ${last}
  where workspace_id = ${workspaceId} and collection_id = ${collectionId} and number = ${number}`

const deleteGeneration = (sql: AnySql, { workspaceId, collectionId, number }: Old) => sql`
  with counts as (
    delete from member_count
    where workspace_id = ${workspaceId} and collection_id = ${collectionId} and generation = ${number}
  )
  delete from generation
  where workspace_id = ${workspaceId} and collection_id = ${collectionId} and number = ${number}`
