/**
 * The numbers of all advisory locks, so that no two uses share one. They never change: the version before takes the
 * same. A lock on a text is on `hashtextextended(text, 0)`; the text begins with its workspace or ends with its schema.
 */
export const ADVISORY_LOCKS = {
  /** The only key: held while roles and schemas are created. */
  provisioning: 7_021_001,
  /** The only key: held while daily partitions are created and dropped (webhook-delivery's migration 0004). */
  partitionMaintenance: 7_021_003,
  /** With a workspace's hash: shared by changes of single collection members, exclusive for a build (decision 020). */
  membership: 7_021_004,
  /** With a partition of catalog.products: held while its records are written to the projection. */
  productPartition: 7_021_005,
  /** With a workspace's hash: held by the replica that builds collection members there. */
  memberBuild: 7_021_006,
  /** With a number for the process: shared, held by each process that delivers webhooks. */
  deliveryProcess: 7_021_007,
  /** With the number of a shard of webhook endpoints: held by its owner. */
  deliveryShard: 7_021_008,
} as const
