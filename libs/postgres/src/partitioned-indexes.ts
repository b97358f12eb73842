import type postgres from 'postgres'

interface MissingIndex {
  /** The index of the partitioned table. */
  readonly index: string
  /** The name of the index that a partition lacks; whether one of that name is whole, as a crash may have left it. */
  readonly name: string
  readonly isValid: boolean | null
  readonly definition: string
}

/**
 * Builds what `create index … on only <partitioned table>` leaves out: the index of each partition, beside writers.
 * Partitions that are made meanwhile have theirs. May be repeated after a crash. Throws `lock_not_available` while
 * another process is at it. `sql` has one connection, as the migrating role.
 */
export async function completeIndexes(sql: postgres.Sql, schema: string): Promise<void> {
  const missing = () => sql<MissingIndex[]>`
    select parent.relname as index, own.name, built.indisvalid as "isValid",
      regexp_replace(pg_get_indexdef(parent.oid), ' INDEX .* USING ', format(' INDEX CONCURRENTLY %I ON %I.%I USING ', own.name, ${schema}::text, part.relname)) as definition
    from pg_index
    join pg_class as parent on parent.oid = indexrelid and parent.relkind = 'I' and relnamespace = ${schema}::regnamespace
    join pg_inherits on inhparent = indrelid
    join pg_class as part on part.oid = inhrelid
    cross join lateral (select part.relname || '_' || parent.relname as name) as own
    left join pg_index as built on built.indexrelid = to_regclass(format('%I.%I', ${schema}::text, own.name))
    where not pg_index.indisvalid and not exists (
      select from pg_inherits as attached join pg_index as its on its.indexrelid = attached.inhrelid
      where attached.inhparent = parent.oid and its.indrelid = part.oid
    )
    order by part.relname`
  if ((await missing()).length === 0) return
  // A lock that is waited for would be a transaction that the builds wait for.
  const [{ isOurs }] = await sql<[{ isOurs: boolean }]>`
    select pg_try_advisory_lock(hashtextextended(${`indexes of ${schema}`}, 0)) as "isOurs"`
  if (!isOurs) throw Object.assign(new Error('another process builds the indexes'), { code: '55P03' })
  for (const { index, name, isValid, definition } of await missing()) {
    // A build waits for the end of older transactions, and nobody for it; requests queue behind what is attached.
    await sql`set lock_timeout = 0`
    if (isValid === false) await sql`drop index concurrently ${sql(schema)}.${sql(name)}`
    if (isValid !== true) await sql.unsafe(definition)
    await sql`set lock_timeout = '2s'`
    await sql`alter index ${sql(schema)}.${sql(index)} attach partition ${sql(schema)}.${sql(name)}`
  }
}
