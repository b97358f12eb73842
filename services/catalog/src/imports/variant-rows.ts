import { ApiError, badRequest, type MemberPath, unprocessable } from '@backoffice/contracts/errors.ts'
import type { VariantRow } from '@backoffice/contracts/imports.ts'
import { newId } from '@backoffice/runtime/clock.ts'
import type { ProductRecord } from '../products/product-view.ts'
import { withChangedVariant, withNewVariant } from '../variants/plan-variant.ts'

const PAIRS = [1, 2, 3] as const

type OptionColumns = Readonly<
  Partial<Record<`option${(typeof PAIRS)[number]}_${'name' | 'value'}`, string | undefined>>
>

/** The variant of a row. `attributes`, by option name, is undefined when the row names no option. */
export interface VariantChange {
  readonly values: OptionColumns & Pick<VariantRow, 'sku' | 'price' | 'cost' | 'stock'>
  readonly attributes: Readonly<Record<string, string>> | undefined
}

/** The values that a row chooses, by the names of their options. Throws the refusal of half a pair. */
export function attributesOf(values: OptionColumns): Record<string, string> | undefined {
  const attributes = new Map<string, string>()
  for (const number of PAIRS) {
    const [name, value] = [values[`option${number}_name`], values[`option${number}_value`]]
    if (name === undefined && value === undefined) continue
    if (name === undefined) throw badRequest([`option${number}_name`], `is required beside option${number}_value`)
    if (value === undefined) throw badRequest([`option${number}_value`], `is required beside option${number}_name`)
    if (attributes.has(name)) throw unprocessable([`option${number}_name`], `the row names the option "${name}" twice`)
    attributes.set(name, value)
  }
  return attributes.size === 0 ? undefined : Object.fromEntries(attributes)
}

/** The product with the row's variant. `before` is the product without the earlier rows of the batch. */
export function withVariant(
  product: ProductRecord,
  { values, attributes }: VariantChange,
  before: ProductRecord,
  optionIds: ReadonlyMap<string, string>,
): ProductRecord {
  // A combination that an earlier row gives up still counts: the database checks uniqueness row by row.
  const others = { variants: [...product.variants, ...before.variants] }
  const current = product.variants.find(({ sku }) => sku === values.sku)
  if (current !== undefined) return withChangedVariant(product, current, { ...values, attributes }, others)
  const { stock = 0 } = values
  return withNewVariant(product, { ...values, id: newId(), stock, attributes }, optionIds, others)
}

/** Runs `work`. A refusal names the column of the row, `product` for that of its product, instead of a member. */
export function inColumns<Result>({ values }: VariantChange, product: string, work: () => Result): Result {
  try {
    return work()
  } catch (error) {
    if (!(error instanceof ApiError)) throw error
    const { headers, errorReason } = error
    throw new ApiError(error.code, error.reason, {
      headers,
      errorReason,
      path: [columnOf(error.path, product, values)],
    })
  }
}

/** The column that holds a member of the variant endpoints' bodies. */
function columnOf([member, option]: MemberPath, product: string, values: OptionColumns): PropertyKey {
  if (member === 'id') return product
  if (member !== 'attributes') return member ?? ''
  if (option === undefined) return 'option1_value'
  return `option${PAIRS.find((number) => values[`option${number}_name`] === option) ?? 1}_name`
}
