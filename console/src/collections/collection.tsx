import { type components, type Tagged, taggedFrom } from '../api/client.ts'
import type { Search } from '../parts/filters.tsx'
import { Badge } from '../parts/text.tsx'
import { useReads } from '../session/session.ts'
import type { Rules } from './rules.ts'

/** What those see who may change collections; the API never shows it to keys. */
interface Hidden {
  readonly membership_type: 'MANUAL' | 'SMART'
  readonly rules: Rules | null
  readonly published: boolean
  readonly publish_at: string | null
  readonly unpublish_at: string | null
  /** Whether its products are being gathered anew. */
  readonly is_gathering: boolean
}

export type Collection = components['schemas']['Collection'] & Partial<Hidden>
type CollectionPage = Omit<components['schemas']['CollectionPage'], 'items'> & { items: Collection[] }
type Products = components['schemas']['ProductPage']

/** Reads collections: those who may change them see drafts and rules, others what is published. */
export function useCollections() {
  const base = useReads()('product::update') ? '/collections' : '/v1/collections'
  return {
    isWhole: base === '/collections',
    list: async (search: Search) => (await taggedFrom<CollectionPage>(base, search)).body,
    one: (id: string): Promise<Tagged<Collection>> => taggedFrom<Collection>(`${base}/${encodeURIComponent(id)}`),
    productsOf: async (id: string, search: Search) =>
      (await taggedFrom<Products>(`${base}/${encodeURIComponent(id)}/products`, search)).body,
  }
}

export const SORT_ORDERS = [
  ['MANUAL', 'as arranged'],
  ['TITLE_ASC', 'by name, A to Z'],
  ['TITLE_DESC', 'by name, Z to A'],
  ['CREATED_DESC', 'newest first'],
  ['CREATED_ASC', 'oldest first'],
  ['STOCK_DESC', 'most in stock first'],
] as const

export const sortWords = ({ sort_order }: Collection): string =>
  SORT_ORDERS.find(([order]) => order === sort_order)?.[1] ?? sort_order

/** Whether shops show the collection now, and why not. */
export function Visibility({ of: { published, publish_at, unpublish_at } }: { readonly of: Collection }) {
  if (published === false) return <Badge state="draft" />
  if (publish_at && new Date(publish_at) > new Date()) return <Badge state="scheduled" tone="busy" />
  if (unpublish_at && new Date(unpublish_at) <= new Date()) return <Badge state="ended" />
  return <Badge state="visible" tone="good" />
}

/** How products come into the collection. */
export const membershipWords = ({ membership_type }: Collection): string | undefined =>
  membership_type && (membership_type === 'SMART' ? 'by rules' : 'by hand')
