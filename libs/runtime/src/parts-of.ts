/** Divides items into parts. A part ends with the item with which the sizes reach `limit`; a size is 1 unless given. */
export function* partsOf<Item>(
  items: Iterable<Item>,
  limit: number,
  sizeOf: (item: Item) => number = () => 1,
): Generator<Item[]> {
  let [part, size]: [Item[], number] = [[], 0]
  for (const item of items) {
    part.push(item)
    size += sizeOf(item)
    if (size < limit) continue
    yield part
    ;[part, size] = [[], 0]
  }
  if (part.length > 0) yield part
}
