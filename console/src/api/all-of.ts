interface PageOf<Item> {
  readonly items: readonly Item[]
  readonly has_next_page: boolean
}

const PAGE_SIZE = 100

/** All items of a list, page by page, or so many at least. */
export async function allOf<Item extends { readonly id: string }>(
  read: (query: { limit: number; after?: string }) => Promise<PageOf<Item>>,
  enough = Number.POSITIVE_INFINITY,
): Promise<readonly Item[]> {
  const all: Item[] = []
  for (;;) {
    const last = all.at(-1)
    const { items, has_next_page } = await read({ limit: PAGE_SIZE, ...(last && { after: last.id }) })
    all.push(...items)
    if (!has_next_page || items.length === 0 || all.length >= enough) return all
  }
}
