import { useNavigate } from '@tanstack/react-router'
import { useState } from 'react'
import { api, bodyOf } from '../api/client.ts'
import { Edit, type Field } from '../parts/edit.tsx'
import { CURRENCIES, priceOf, STATUSES, TYPES } from './product.tsx'

const WITHOUT_VARIANTS = TYPES.filter(([type]) => type !== 'VARIABLE_PRODUCT')

const FIELDS: readonly Field[] = [
  { name: 'name', label: 'Name', value: '', input: { required: true, maxLength: 255 } },
  { name: 'type', label: 'Type', value: 'SIMPLE_PRODUCT', options: WITHOUT_VARIANTS },
  { name: 'status', label: 'Status', value: 'ACTIVE', options: STATUSES },
  { name: 'sku', label: 'SKU', value: '', input: { required: true, maxLength: 255 }, hint: 'Your own number for it.' },
  { name: 'currency', label: 'Currency', value: '', input: { required: true, maxLength: 3, placeholder: 'EUR' } },
  { name: 'price', label: 'Price', value: '', input: { required: true, inputMode: 'decimal', placeholder: '49.00' } },
  { name: 'stock', label: 'Stock', value: '0', input: { required: true, type: 'number', min: 0 } },
  { name: 'description', label: 'Description', value: '', isLong: true, input: { maxLength: 65536 } },
]

/** The form for a new product without variants. */
export function CreateProduct({ onClose }: { readonly onClose: () => void }) {
  const navigate = useNavigate()
  const [begun] = useState({ body: FIELDS, tag: '' })
  return (
    <Edit
      title="Add a product"
      verb="Add product"
      of={begun}
      fieldsOf={(fields) => fields}
      save={async ({ all }) => {
        const { name = '', type, status, sku = '', price = '', stock, description } = all
        const currency = all.currency?.toUpperCase() ?? ''
        // The API would say so of a price, of which the form has no such field.
        if (!CURRENCIES.includes(currency)) throw new Error('currency: is not an ISO 4217 currency code, such as EUR')
        const body = {
          name,
          type: type as (typeof TYPES)[number][0],
          status: status as (typeof STATUSES)[number][0],
          sku: sku.trim(),
          price: { [currency]: priceOf(price, currency) },
          stock: Number(stock),
          ...(description && { description }),
        }
        return bodyOf(api.POST('/v1/products', { body }))
      }}
      done="The product is added."
      changes={['products']}
      onDone={(made) => made && navigate({ to: '/products/$product', params: { product: made.id } })}
      onClose={onClose}
    />
  )
}
