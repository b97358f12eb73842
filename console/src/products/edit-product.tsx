import { type ReactNode, useState } from 'react'
import { api, bodyOf, type Tagged, taggedOf } from '../api/client.ts'
import { ApiFailure } from '../api/failure.ts'
import { decimalText } from '../parts/amounts.ts'
import { Edit, type Field } from '../parts/edit.tsx'
import type { Texts } from '../parts/save-typed.ts'
import { CURRENCIES, type Prices, type Product, priceOf, STATUSES } from './product.tsx'

export const readProduct = (id: string) => taggedOf(api.GET('/v1/products/{id}', { params: { path: { id } } }))

interface EditProductProps {
  readonly of: Tagged<Product>
  readonly onClose: () => void
}

/** The form of a product; one without variants has its price and stock there, too. */
export function EditProduct({ of, onClose }: EditProductProps) {
  const { id } = of.body
  const [added, chooser] = useAddedCurrencies(of.body.variants[0]?.price ?? {})
  const hasOneVariant = of.body.type !== 'VARIABLE_PRODUCT'
  const fieldsOf = ({ name, status, description, variants: [variant] }: Product): readonly Field[] => [
    { name: 'name', label: 'Name', value: name, input: { required: true, maxLength: 255 } },
    { name: 'status', label: 'Status', value: status, options: STATUSES },
    ...(hasOneVariant && variant ? [...priceFields(variant.price, added), stockField(variant.stock)] : []),
    { name: 'description', label: 'Description', value: description ?? '', isLong: true, input: { maxLength: 65536 } },
  ]
  return (
    <Edit
      title="Edit product"
      of={of}
      fieldsOf={fieldsOf}
      read={() => readProduct(id)}
      save={({ changed, all }, tag) => {
        const { name, status, description } = changed
        const body = {
          ...(name !== undefined && { name }),
          ...(status !== undefined && { status: status as (typeof STATUSES)[number][0] }),
          ...(description !== undefined && { description: description || null }),
          ...variantChanges(changed, all),
        }
        return bodyOf(api.PUT('/v1/products/{id}', { params: { path: { id } }, headers: { 'if-match': tag }, body }))
      }}
      done="The product is saved."
      changes={['products', 'collections']}
      onClose={onClose}
    >
      {hasOneVariant && chooser}
    </Edit>
  )
}

interface EditVariantProps {
  readonly product: string
  readonly variant: Product['variants'][number]
  readonly onClose: () => void
}

/** The form of one variant of many. */
export function EditVariant({ product, variant, onClose }: EditVariantProps) {
  const [added, chooser] = useAddedCurrencies(variant.price)
  const path = { id: product, variant_id: variant.id }
  const read = async () => {
    const { variants } = (await readProduct(product)).body
    return tagged(variants.find(({ id }) => id === variant.id) ?? variant)
  }
  return (
    <Edit
      title="Edit variant"
      of={tagged(variant)}
      fieldsOf={({ sku, price, stock }) => [
        { name: 'sku', label: 'SKU', value: sku, input: { required: true, maxLength: 255 } },
        ...priceFields(price, added),
        stockField(stock),
      ]}
      read={read}
      save={async ({ changed, all }, tag) => {
        const body = { ...(changed.sku !== undefined && { sku: changed.sku }), ...variantChanges(changed, all) }
        if ((await read()).tag !== tag) throw new ApiFailure(412, 'precondition_failed', CHANGED)
        return bodyOf(api.PUT('/v1/products/{id}/variants/{variant_id}', { params: { path }, body }))
      }}
      done="The variant is saved."
      changes={['products', 'collections']}
      onClose={onClose}
    >
      {chooser}
    </Edit>
  )
}

const CHANGED = 'Somebody else has changed the variant meanwhile. Close this and look at it.'

/** A variant has no tag of its own: what the form changes is compared before it is sent. */
const tagged = (variant: Product['variants'][number]) => {
  const { sku, price, stock } = variant
  return { body: variant, tag: JSON.stringify([sku, price, stock]) }
}

const PRICE = 'price.'

const priceFields = (price: Prices, added: readonly string[]): Field[] =>
  [...new Set([...Object.keys(price), ...added])].map((currency) => ({
    name: `${PRICE}${currency}`,
    label: `Price in ${currency}`,
    value: price[currency] === undefined ? '' : decimalText(price[currency], currency),
    input: { inputMode: 'decimal' },
  }))

const stockField = (stock: number): Field => ({
  name: 'stock',
  label: 'Stock',
  value: String(stock),
  input: { type: 'number', required: true, min: Math.min(stock, 0) },
})

/** What is sent of a variant. Prices are sent as a whole: an empty one goes. */
function variantChanges(changed: Texts, all: Texts): { price?: Record<string, number>; stock?: number } {
  const prices = Object.entries(all).filter(([name, text]) => name.startsWith(PRICE) && text.trim() !== '')
  const price = prices.map(([name, text]) => {
    const currency = name.slice(PRICE.length)
    return [currency, priceOf(text, currency)] as const
  })
  return {
    ...(Object.keys(changed).some((name) => name.startsWith(PRICE)) && { price: Object.fromEntries(price) }),
    ...(changed.stock !== undefined && { stock: Number(changed.stock) }),
  }
}

/** Currencies that get a price, and what chooses one more. */
function useAddedCurrencies(price: Prices): [readonly string[], ReactNode] {
  const [added, setAdded] = useState<readonly string[]>([])
  const others = CURRENCIES.filter((code) => price[code] === undefined && !added.includes(code))
  return [
    added,
    <label key="currency">
      A price in another currency
      <select value="" onChange={({ target }) => setAdded([...added, target.value])}>
        <option value="">none</option>
        {others.map((code) => (
          <option key={code}>{code}</option>
        ))}
      </select>
    </label>,
  ]
}
