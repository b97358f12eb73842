/**
 * Divides items, in their order, into parts of at most `limit`; an item above the limit is a part of its own. The size
 * of an item is 1 unless given.
 */
export function* partsOf<Item>(
  items: Iterable<Item>,
  limit: number,
  sizeOf: (item: Item) => number = () => 1,
): Generator<Item[]> {
  let [part, size]: [Item[], number] = [[], 0]
  for (const item of items) {
    const added = sizeOf(item)
    if (part.length > 0 && size + added > limit) {
      yield part
      ;[part, size] = [[], 0]
    }
    part.push(item)
    size += added
  }
  if (part.length > 0) yield part
}
