import type { RuleProduct } from './rule-product.ts'

// Each is made once for a product: a workspace may have 80,000 conditions, and a product 2,048 variants.

/** `make`, which is called once for each object. */
function oncePer<Of extends object, Value>(make: (of: Of) => Value): (of: Of) => Value {
  const made = new WeakMap<Of, Value>()
  return (of) => {
    const known = made.get(of)
    if (known !== undefined) return known
    const value = make(of)
    made.set(of, value)
    return value
  }
}

export const textsOf = oncePer((values: readonly string[]): ReadonlySet<string> => new Set(values))
export const amountsOf = oncePer((values: readonly number[]): ReadonlySet<number> => new Set(values))

/** Whether two sets have a value in common. */
export function overlap<Value>(one: ReadonlySet<Value>, other: ReadonlySet<Value>): boolean {
  const [few, many] = one.size < other.size ? [one, other] : [other, one]
  for (const value of few) if (many.has(value)) return true
  return false
}

/** The distinct SKUs of all variants. */
export const skusOf = oncePer(({ skus }: RuleProduct): ReadonlySet<string> => new Set(skus.match(/[^\n]+/g)))

/** After so many searches of a product, the endings of a few more of its SKUs are sorted: no rule waits for all. */
const [SEARCHES, SKUS] = [60, 128]

/** SKUs that are searched as they are, and the sorted endings of the others. */
const searchedOf = oncePer((product: RuleProduct) => {
  return { searches: 0, unsorted: [...skusOf(product)], sorted: [] as (readonly string[])[] }
})

/** Whether the SKUs, each between line breaks, have this part. */
export function hasPart(product: RuleProduct, part: string): boolean {
  const searched = searchedOf(product)
  const { unsorted, sorted } = searched
  if (++searched.searches % SEARCHES === 0 && unsorted.length > 0) sorted.push(endingsOf(unsorted.splice(0, SKUS)))
  if (unsorted.length > 0 || sorted.length === 0) return product.skus.includes(part)
  return sorted.some((endings) => isBeginningIn(endings, part))
}

/** The SKUs, each between line breaks, from each of their characters on; sorted. */
const endingsOf = (skus: readonly string[]): readonly string[] =>
  skus
    .flatMap((sku) => {
      const text = `\n${sku}\n`
      return Array.from({ length: text.length }, (_, index) => text.slice(index))
    })
    .sort()

/** Whether one of the sorted texts begins with this one. */
function isBeginningIn(sorted: readonly string[], text: string): boolean {
  let [from, to] = [0, sorted.length]
  while (from < to) {
    const middle = (from + to) >> 1
    if ((sorted[middle] ?? '') < text) from = middle + 1
    else to = middle
  }
  return sorted[from]?.startsWith(text) ?? false
}
