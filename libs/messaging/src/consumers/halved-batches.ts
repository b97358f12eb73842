import type { IncomingRecord } from '../kafka/kafka-connection.ts'
import { partitionOf } from './received-records.ts'

/**
 * Finds the record that causes statement timeouts: halves a batch that timed out, until one record is left. Other
 * partitions are processed between the tries, so this object remembers where the halves end.
 */
export class HalvedBatches {
  /** Of each partition, the offsets where its next transactions end, the nearest last. */
  readonly #ends = new Map<string, readonly number[]>()

  /** Returns the first of these records: those of the next transaction. */
  next(records: readonly IncomingRecord[]): readonly IncomingRecord[] {
    const ends = records[0] && this.#ends.get(partitionOf(records[0]))
    const end = ends?.findLast((offset) => offset >= Number(records[0]?.offset))
    return end === undefined ? records : records.filter(({ offset }) => Number(offset) <= end)
  }

  /** Notes that these records timed out. Returns whether there is a half to try, which a single record has not. */
  halve(records: readonly IncomingRecord[]): boolean {
    const [last, middle] = [records.at(-1), records[(records.length >> 1) - 1]]
    if (last === undefined) return false
    const ends = this.#ends.get(partitionOf(last)) ?? [Number(last.offset)]
    this.#ends.set(partitionOf(last), middle === undefined ? ends : [...ends, Number(middle.offset)])
    return middle !== undefined
  }

  /** Forgets all other partitions: other members have them now. */
  keepOnly(partitions: ReadonlySet<string>): void {
    for (const partition of this.#ends.keys()) if (!partitions.has(partition)) this.#ends.delete(partition)
  }

  /** Forgets the ends up to this record. */
  processed(last: IncomingRecord): void {
    const ends = this.#ends.get(partitionOf(last))?.filter((offset) => offset > Number(last.offset)) ?? []
    if (ends.length > 0) this.#ends.set(partitionOf(last), ends)
    else this.#ends.delete(partitionOf(last))
  }
}
