import type { IncomingRecord } from '../kafka/kafka-connection.ts'

/** One partition's next transactions: the offsets where they end, the nearest last, and tries of a single record. */
interface Halving {
  readonly ends: number[]
  triesAlone: number
}

/** The tries of a single record. There are several, since the database may be slow for a while. */
const TRIES_ALONE = 3

const partitionOf = ({ topic, partition }: IncomingRecord) => `${topic}/${partition}`

/**
 * Finds the record that causes statement timeouts: halves a batch that timed out, until one record is left. Other
 * partitions are processed between the tries, so this object remembers where the halves end.
 */
export class HalvedBatches {
  readonly #halvings = new Map<string, Halving>()

  /** Returns the first of these records: those of the next transaction. */
  next(records: readonly IncomingRecord[]): readonly IncomingRecord[] {
    const ends = records[0] && this.#halvings.get(partitionOf(records[0]))?.ends
    const end = ends?.findLast((offset) => offset >= Number(records[0]?.offset))
    return end === undefined ? records : records.filter(({ offset }) => Number(offset) <= end)
  }

  /** Notes that these records timed out. Returns false for a single record without tries left. */
  halve(records: readonly IncomingRecord[]): boolean {
    const [last, middle] = [records.at(-1), records[(records.length >> 1) - 1]]
    if (last === undefined) return false
    const halving = this.#halvings.get(partitionOf(last)) ?? { ends: [Number(last.offset)], triesAlone: 0 }
    this.#halvings.set(partitionOf(last), halving)
    if (middle === undefined) return ++halving.triesAlone < TRIES_ALONE
    halving.ends.push(Number(middle.offset))
    halving.triesAlone = 0
    return true
  }

  /** Forgets the ends up to this record. */
  processed(last: IncomingRecord): void {
    const halving = this.#halvings.get(partitionOf(last))
    const ends = halving?.ends.filter((offset) => offset > Number(last.offset)) ?? []
    if (ends.length > 0) this.#halvings.set(partitionOf(last), { ends, triesAlone: 0 })
    else this.#halvings.delete(partitionOf(last))
  }
}
