import { SHARDS } from './shard-of.ts'

/** Who holds what, as PostgreSQL's locks say. */
export interface Holdings {
  /** The living processes, this one among them. */
  readonly processes: number
  readonly own: ReadonlySet<number>
  /** The shards of other processes. */
  readonly others: ReadonlySet<number>
}

/**
 * The shards to take and to hand over, so that each process has its part: 128 by the number of processes, rounded up.
 */
export function balance({ processes, own, others }: Holdings): { take: number[]; leave: number[] } {
  const part = Math.ceil(SHARDS / processes)
  const free = Array.from({ length: SHARDS }, (_, shard) => shard).filter(
    (shard) => !own.has(shard) && !others.has(shard),
  )
  return { take: free.slice(0, Math.max(0, part - own.size)), leave: [...own].slice(part) }
}
