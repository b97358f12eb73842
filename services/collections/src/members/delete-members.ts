import type { AnySql, Sql } from '@backoffice/postgres/database.ts'
import { inTransaction } from '@backoffice/postgres/transaction.ts'
import { BEFORE_ALL } from './build-generation.ts'

interface Old {
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
      select number, coalesce(built_to, ${BEFORE_ALL}) as "deletedTo"
      from generation where state = 'OLD' limit 1 for update skip locked`
    if (old === undefined) return false
    const last = await deleteMembers(tx, old, size)
    if (last === undefined) await deleteGeneration(tx, old)
    else await noteDeleted(tx, old, last)
    return true
  })
}

/**
 * Goes on where the last chunk ended: from the beginning it would find its way through all that is deleted and not yet cleaned up.
 * Both statements are stretches of one index, whatever the planner believes of a generation that is younger than its statistics.
 */
async function deleteMembers(sql: AnySql, old: Old, size: number): Promise<string | undefined> {
  const { number, deletedTo } = old
  const own = sql`generation = ${number} and product_id > ${deletedTo}`
  const [last] = await sql<{ id: string }[]>`
    select product_id as id from member where ${own} order by product_id offset ${size - 1} limit 1`
  await sql`delete from member where ${own} ${last ? sql`and product_id <= ${last.id}` : sql``}`
  return last?.id
}

const noteDeleted = (sql: AnySql, { number }: Old, last: string) => sql`
  update generation set built_to = ${last} where number = ${number}`

const deleteGeneration = (sql: AnySql, { number }: Old) => sql`
  with counts as (delete from member_count where generation = ${number})
  delete from generation where number = ${number}`
