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

/** To search the SKUs so many times takes about as long as to sort their endings. */
const SEARCHES = 200

const searchesOf = oncePer((_: RuleProduct) => ({ count: 0 }))

/** The SKUs, each between line breaks, from each of their characters on; sorted. */
const endingsOf = oncePer((product: RuleProduct): readonly string[] => {
  const endings = new Set<string>()
  for (const sku of skusOf(product)) {
    const text = `\n${sku}\n`
    for (let index = 0; index < text.length; index++) endings.add(text.slice(index))
  }
  return [...endings].sort()
})

/** Whether the SKUs, each between line breaks, have this part. */
export function hasPart(product: RuleProduct, part: string): boolean {
  if (searchesOf(product).count++ < SEARCHES) return product.skus.includes(part)
  const endings = endingsOf(product)
  let [from, to] = [0, endings.length]
  while (from < to) {
    const middle = (from + to) >> 1
    if ((endings[middle] ?? '') < part) from = middle + 1
    else to = middle
  }
  return endings[from]?.startsWith(part) ?? false
}
