/** The tasks of a worker that are under way, each for an item. `work` of the worker begins them and does not wait. */
export class Tasks<Item> {
  readonly #underWay = new Map<Item, Promise<void>>()
  #onEnd = (): void => undefined

  get size(): number {
    return this.#underWay.size
  }

  /** The items whose tasks have not ended. */
  get items(): Item[] {
    return [...this.#underWay.keys()]
  }

  has(item: Item): boolean {
    return this.#underWay.has(item)
  }

  /** Begins the task of an item that has none under way. It must not throw. */
  begin(item: Item, task: () => Promise<void>): void {
    const ending = task().finally(() => {
      this.#underWay.delete(item)
      this.#onEnd()
    })
    this.#underWay.set(item, ending)
  }

  onEnd(notify: () => void): void {
    this.#onEnd = notify
  }

  /** Resolves once the tasks that are under way now have ended. */
  async ended(): Promise<void> {
    await Promise.all(this.#underWay.values())
  }
}
