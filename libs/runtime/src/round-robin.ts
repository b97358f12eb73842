/** What waits, by owner: owners are served in turn, and what one owner waits for in its order. */
export class RoundRobin<Item> {
  /** The first owner is the next in turn. */
  readonly #queues = new Map<string, Set<Item>>()

  get isEmpty(): boolean {
    return this.#queues.size === 0
  }

  /** How many items wait. */
  get size(): number {
    return [...this.#queues.values()].reduce((total, { size }) => total + size, 0)
  }

  /** How many owners wait. */
  get owners(): number {
    return this.#queues.size
  }

  /** Everything that an owner waits for. */
  of(owner: string): ReadonlySet<Item> {
    return this.#queues.get(owner) ?? new Set()
  }

  /** The first item of each owner, in turn. */
  *[Symbol.iterator](): Generator<[owner: string, first: Item]> {
    for (const [owner, [first]] of this.#queues) yield [owner, first as Item]
  }

  add(owner: string, item: Item): void {
    this.#queues.set(owner, (this.#queues.get(owner) ?? new Set()).add(item))
  }

  /** Removes an item that is served now: its owner goes to the end. */
  serve(owner: string, item: Item): void {
    const queue = this.#queues.get(owner)
    this.remove(owner, item)
    if (queue === undefined || queue.size === 0) return
    this.#queues.delete(owner)
    this.#queues.set(owner, queue)
  }

  /** Removes an item that waits no longer: its owner keeps its turn. */
  remove(owner: string, item: Item): void {
    const queue = this.#queues.get(owner)
    if (queue?.delete(item) && queue.size === 0) this.#queues.delete(owner)
  }
}
