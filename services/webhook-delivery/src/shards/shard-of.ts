/**
 * Endpoints, and the backlogs of workspaces, are spread over so many shards; each has one owner among the processes.
 */
export const SHARDS = 128

/** The shard of an endpoint or a workspace: from the last byte of its id, which is random. */
export const shardOf = (id: string): number => Number.parseInt(id.slice(-2), 16) % SHARDS
