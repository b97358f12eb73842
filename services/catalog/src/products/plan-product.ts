import { badRequest, type MemberPath, memberPath, unprocessable } from '@backoffice/contracts/errors.ts'
import { PRODUCT, type ProductStatus, VARIANT } from '@backoffice/contracts/product.ts'
import { newId } from '@backoffice/runtime/clock.ts'
import type { z } from 'zod'
import type { ResolvedReferences } from './chosen-references.ts'
import { withMembers } from './plan-update.ts'
import { type CreateProductBody, perVariantMemberIn } from './product-input.ts'
import type { ProductRecord } from './product-view.ts'

type ProductPlan = ReturnType<typeof planProduct>

interface PlannedVariant {
  /** Where the request has it: `sku` or `variants[1].sku`. */
  readonly skuPath: MemberPath
  readonly members: z.output<z.ZodObject<typeof VARIANT.shapes.create>>
  /** Option name → value. */
  readonly attributes: ReadonlyMap<string, string>
}

/**
 * The options and variants of a new product, checked by every rule that needs no database: the Create rules 1, 2 and 4
 * (spec: Products; OP-13, OP-15). Throws `bad_request` when a member the type requires is missing, `unprocessable` when
 * members contradict each other or the workspace has switched the status off.
 */
export function planProduct(body: CreateProductBody, supported: readonly ProductStatus[]) {
  refuseUnsupportedStatus(body.status ?? PRODUCT.initial.status, supported)
  const variants = body.type === 'VARIABLE_PRODUCT' ? planVariants(body) : [planDefaultVariant(body)]
  const total = variants.reduce((sum, { members }) => sum + members.stock, 0)
  if (!Number.isSafeInteger(total)) throw unprocessable(['variants'], 'their stock adds up to more than 2^53−1')
  return { options: body.options ?? [], variants }
}

/** The first version of a product (OP-13). `options` are the workspace's options that the plan names. */
export function newProduct(
  body: Omit<CreateProductBody, 'slug'>,
  plan: ProductPlan,
  references: ResolvedReferences & { readonly slug: string; readonly options: readonly { id: string; name: string }[] },
  now: Date,
): ProductRecord {
  const idByName = new Map(references.options.map(({ id, name }) => [name, id]))
  const idOf = (name: string) => idByName.get(name) ?? ''
  const blank: ProductRecord = {
    ...PRODUCT.initial,
    id: newId(),
    name: body.name,
    slug: references.slug,
    type: body.type,
    requiresShipping: body.type !== 'VIRTUAL_PRODUCT',
    version: 1,
    refreshes: 0,
    categories: [],
    tags: [],
    options: plan.options.map(({ name, values }) => ({ id: idOf(name), name, values })),
    media: [],
    variants: plan.variants.map(({ members, attributes }) => {
      const { sku, stock } = members
      const chosen = Object.fromEntries([...attributes].map(([name, value]) => [idOf(name), value]))
      return VARIANT.changed({ ...VARIANT.initial, id: newId(), sku, stock, attributes: chosen }, members)
    }),
    createdAt: now,
    updatedAt: now,
  }
  return withMembers(blank, body, references)
}

/**
 * Throws `unprocessable` when the workspace has switched the status off, unless it is the `current` one of the product
 * (spec: Create rules 4; OP-13).
 */
export function refuseUnsupportedStatus(
  status: ProductStatus | undefined,
  supported: readonly ProductStatus[],
  current?: ProductStatus,
): void {
  if (status === undefined || status === current || supported.includes(status)) return
  throw unprocessable(
    ['status'],
    `this workspace does not use ${status}; send one that it uses: ${supported.join(', ')}`,
  )
}

function planDefaultVariant(body: CreateProductBody): PlannedVariant {
  for (const member of ['options', 'variants'] as const) {
    if (body[member] !== undefined) {
      throw unprocessable([member], `a ${body.type} has one default variant; send it only for a VARIABLE_PRODUCT`)
    }
  }
  const { sku, stock } = body
  if (sku === undefined) throw badRequest(['sku'], `is required for a ${body.type}`)
  if (stock === undefined) throw badRequest(['stock'], `is required for a ${body.type}`)
  return { skuPath: ['sku'], members: { ...body, sku, stock }, attributes: new Map() }
}

function planVariants(body: CreateProductBody): PlannedVariant[] {
  const { options, variants } = body
  if (options === undefined) throw badRequest(['options'], 'is required for a VARIABLE_PRODUCT')
  if (variants === undefined) throw badRequest(['variants'], 'is required for a VARIABLE_PRODUCT')
  const member = perVariantMemberIn(body)
  if (member !== undefined)
    throw unprocessable([member], `belongs on each variant of a VARIABLE_PRODUCT: variants[0].${member}`)
  const valuesByOption = indexOptions(options)
  const planned = variants.map((variant, index) => ({
    skuPath: ['variants', index, 'sku'],
    members: variant,
    attributes: checkAttributes(variant.attributes, valuesByOption, ['variants', index, 'attributes']),
  }))
  const skus = planned.map(({ members }) => members.sku)
  refuseTwice(skus, (index) => ['variants', index, 'sku'])
  const combinations = planned.map(({ attributes }) => JSON.stringify(options.map(({ name }) => attributes.get(name))))
  refuseTwice(combinations, (index) => ['variants', index, 'attributes'])
  return planned
}

function indexOptions(options: ProductPlan['options']): Map<string, Set<string>> {
  const names = options.map(({ name }) => name)
  refuseTwice(names, (index) => ['options', index, 'name'])
  options.forEach(({ values }, index) => {
    refuseTwice(values, (position) => ['options', index, 'values', position])
  })
  return new Map(options.map(({ name, values }) => [name, new Set(values)]))
}

/** One value per option, no more and no fewer (Create rule 2). */
function checkAttributes(
  attributes: Record<string, string>,
  valuesByOption: Map<string, Set<string>>,
  path: MemberPath,
): Map<string, string> {
  const chosen = new Map(Object.entries(attributes))
  for (const [name, value] of chosen) {
    const values = valuesByOption.get(name)
    if (values === undefined) throw unprocessable([...path, name], 'the product has no such option')
    if (!values.has(value)) throw unprocessable([...path, name], `"${value}" is not one of the option's values`)
  }
  for (const name of valuesByOption.keys()) {
    if (!chosen.has(name)) throw unprocessable(path, `needs a value for the option "${name}"`)
  }
  return chosen
}

function refuseTwice(values: readonly string[], pathOf: (index: number) => MemberPath): void {
  const firstIndex = new Map<string, number>()
  values.forEach((value, index) => {
    const earlier = firstIndex.get(value)
    if (earlier !== undefined) throw unprocessable(pathOf(index), `is the same as ${memberPath(pathOf(earlier))}`)
    firstIndex.set(value, index)
  })
}
