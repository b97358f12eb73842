import { api, bodyOf, type components, taggedOf } from '../api/client.ts'
import type { Field } from '../parts/edit.tsx'
import type { Texts } from '../parts/save-typed.ts'

export type Customer = components['schemas']['Customer']

export const readCustomer = (id: string) => taggedOf(api.GET('/v1/customers/{id}', { params: { path: { id } } }))

export const readErasure = (id: string) => bodyOf(api.GET('/v1/customers/{id}/erasure', { params: { path: { id } } }))

export const nameOf = ({ firstname, lastname }: Pick<Customer, 'firstname' | 'lastname'>): string =>
  [firstname, lastname].filter(Boolean).join(' ')

const MOST = { maxLength: 255 }

export const fieldsOf = (customer: Omit<Customer, 'id' | 'created_at' | 'updated_at'>): readonly Field[] => [
  { name: 'firstname', label: 'First name', value: customer.firstname, input: { ...MOST, required: true } },
  { name: 'lastname', label: 'Last name', value: customer.lastname ?? '', input: MOST },
  { name: 'email', label: 'E-mail', value: customer.email ?? '', input: { ...MOST, type: 'email' } },
  { name: 'phone', label: 'Phone', value: customer.phone ?? '', input: { ...MOST, type: 'tel' } },
  {
    name: 'note',
    label: 'Note',
    value: customer.note ?? '',
    isLong: true,
    hint: 'For you; the customer never sees it.',
  },
]

/** The texts of a form as members: an empty one unsets. */
export const membersOf = ({ firstname, ...others }: Texts) => ({
  ...(firstname !== undefined && { firstname }),
  ...Object.fromEntries(Object.entries(others).map(([name, text]) => [name, text || null])),
})
