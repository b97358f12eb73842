import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { useState } from 'react'
import { api, bodyOf } from '../api/client.ts'
import { Act } from '../parts/action.tsx'
import { Empty } from '../parts/answer.tsx'
import { Badge } from '../parts/badge.tsx'
import { Choice, Filters, useFilters, Words } from '../parts/filters.tsx'
import { List, useList } from '../parts/list.tsx'
import { Page } from '../parts/page.tsx'
import { Picture } from '../parts/picture.tsx'
import type { Column } from '../parts/table.tsx'
import { CreateProduct } from './create-product.tsx'
import { PriceRange, type Product, STATUSES, Stock, TYPES, typeOf } from './product.tsx'

const COLUMNS: readonly Column<Product>[] = [
  { head: 'Image', cell: ({ media }) => <Picture url={media[0]?.thumbnail} /> },
  {
    head: 'Product',
    cell: ({ id, name }) => (
      <Link to="/products/$product" params={{ product: id }}>
        {name}
      </Link>
    ),
  },
  { head: 'Status', cell: ({ status }) => <Badge state={status} /> },
  { head: 'Type', cell: (product) => <span className="short">{typeOf(product)}</span> },
  { head: 'Category', cell: ({ category }) => category ?? '–' },
  { head: 'SKU', cell: ({ variants: [first, ...others] }) => skuOf(first?.sku, others.length) },
  { head: 'Price', cell: (product) => <PriceRange of={product} />, isNumber: true },
  { head: 'Stock', cell: ({ total_stock }) => <Stock count={total_stock} />, isNumber: true },
]

const skuOf = (first: string | undefined, others: number) =>
  first === undefined ? '–' : others === 0 ? first : `${first} and ${others} more`

/** The products of the workspace, newest first. */
export function ProductsPage() {
  const [search] = useFilters()
  const [isCreating, setIsCreating] = useState(false)
  const products = useList(['products'], (query) => bodyOf(api.GET('/v1/products', { params: { query } })))
  return (
    <Page
      title="Products"
      actions={
        <Act needs="product::create" className="primary" onAct={() => setIsCreating(true)}>
          Add product
        </Act>
      }
    >
      {isCreating && <CreateProduct onClose={() => setIsCreating(false)} />}
      <Filters>
        <Words label="Search" name="query" placeholder="linen shirt" />
        <Choice label="Status" name="status" options={STATUSES} />
        <Choice label="Type" name="type" options={TYPES} />
        <CategoryFilter />
        <Words label="Tag" name="tag" />
        <Words label="SKU" name="sku" />
      </Filters>
      <List
        of={products}
        label="Products"
        columns={COLUMNS}
        empty={
          <Empty title="No products">
            <p>{Object.keys(search).length > 0 ? 'No product is like this.' : 'Add one, or import a file.'}</p>
          </Empty>
        }
      />
    </Page>
  )
}

const MOST_CATEGORIES = 100

/** A choice where the workspace has few categories, else a word. */
function CategoryFilter() {
  const categories = useQuery({
    queryKey: ['categories'],
    queryFn: () => bodyOf(api.GET('/v1/categories', { params: { query: { limit: MOST_CATEGORIES } } })),
    staleTime: 60_000,
  })
  const { items = [], total = 0 } = categories.data ?? {}
  if (total > MOST_CATEGORIES) return <Words label="Category" name="category" placeholder="its slug" />
  return <Choice label="Category" name="category" options={items.map(({ slug, name }) => [slug, name] as const)} />
}
