import type { IncomingRecord } from './kafka-connection.ts'

/** Of one partition: the offsets at which the next transactions end, the nearest last, and the tries of a record alone. */
interface Halving {
  readonly ends: number[]
  triesAlone: number
}

/** A record alone is given up after so many tries: the database may be slow for a while. */
const TRIES_ALONE = 3

/**
 * Finds the records that a statement cannot take within its time. A batch that took too long comes again in halves, until the
 * record is alone. Other partitions have their turn between the tries, so the ends of the halves are kept here meanwhile.
 */
export function halvedBatches() {
  const halvings = new Map<string, Halving>()
  return {
    /** The first of these records, as many as the next transaction may have. */
    next(records: readonly IncomingRecord[]): readonly IncomingRecord[] {
      const ends = records[0] && halvings.get(partitionOf(records[0]))?.ends
      const end = ends?.findLast((offset) => offset >= Number(records[0]?.offset))
      return end === undefined ? records : records.filter(({ offset }) => Number(offset) <= end)
    },
    /** Notes that these records took too long. False when it is one record that has had its tries. */
    halve(records: readonly IncomingRecord[]): boolean {
      const [last, middle] = [records.at(-1), records[(records.length >> 1) - 1]]
      if (last === undefined) return false
      const halving = halvings.get(partitionOf(last)) ?? { ends: [Number(last.offset)], triesAlone: 0 }
      halvings.set(partitionOf(last), halving)
      if (middle === undefined) return ++halving.triesAlone < TRIES_ALONE
      halving.ends.push(Number(middle.offset))
      halving.triesAlone = 0
      return true
    },
    /** Forgets the ends up to this record. */
    processed(last: IncomingRecord): void {
      const halving = halvings.get(partitionOf(last))
      const ends = halving?.ends.filter((offset) => offset > Number(last.offset)) ?? []
      if (ends.length > 0) halvings.set(partitionOf(last), { ends, triesAlone: 0 })
      else halvings.delete(partitionOf(last))
    },
  }
}

/** What `halvedBatches` returns. */
export type HalvedBatches = ReturnType<typeof halvedBatches>

const partitionOf = ({ topic, partition }: IncomingRecord) => `${topic}/${partition}`
