import type { AnySql } from '@backoffice/postgres/database.ts'

/** First key of the advisory locks on partitions of catalog.products; the second is the partition. */
const PARTITION_LOCK = 7_021_005
/** Of the shards of a count, those that no other transaction uses are from here on (0002_collections.sql). */
const FIRST_OWN_SHARD = 8

/**
 * Has the products of a partition alone until the transaction ends: the consumer, one that took its place, and a rebuild follow
 * each other. So they have a shard of each count to themselves too. Comes before the membership lock.
 */
export const lockPartition = (sql: AnySql, partition: number) => sql`
  select pg_advisory_xact_lock(${PARTITION_LOCK}::integer, ${partition}::integer),
    set_config('app.count_shard', ${String(FIRST_OWN_SHARD + partition)}, true)`
