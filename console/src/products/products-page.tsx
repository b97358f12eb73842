import { useQuery } from '@tanstack/react-query'
import { api, bodyOf } from '../api/client.ts'
import { OpenButton } from '../parts/action.tsx'
import { Choice, Filters, useFilters, Words } from '../parts/filters.tsx'
import { List, useList } from '../parts/list.tsx'
import { Empty, Page, Unread } from '../parts/page.tsx'
import type { Column } from '../parts/table.tsx'
import { Badge, Long } from '../parts/text.tsx'
import { CreateProduct } from './create-product.tsx'
import { IMAGE, NAME, PRICE_AND_STOCK, type Product, STATUSES, TYPES, typeOf } from './product.tsx'

const COLUMNS: readonly Column<Product>[] = [
  IMAGE,
  NAME,
  { head: 'Status', cell: ({ status }) => <Badge state={status} /> },
  { head: 'Type', cell: (product) => <span className="short">{typeOf(product)}</span> },
  { head: 'Category', cell: ({ category }) => <Long text={category ?? '–'} isCut /> },
  { head: 'SKU', cell: ({ variants: [first, ...others] }) => <Long text={skuOf(first?.sku, others.length)} isCut /> },
  ...PRICE_AND_STOCK,
]

const skuOf = (first: string | undefined, others: number) =>
  first === undefined ? '–' : others === 0 ? first : `${first} and ${others} more`

/** The products of the workspace, newest first. */
export function ProductsPage() {
  const [search] = useFilters()
  const products = useList(['products'], (query) => bodyOf(api.GET('/v1/products', { params: { query } })))
  return (
    <Page
      title="Products"
      actions={
        <OpenButton needs="product::create" className="primary" opens={(close) => <CreateProduct onClose={close} />}>
          Add product
        </OpenButton>
      }
    >
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
            {Object.keys(search).length > 0 ? 'No product is like this.' : 'Add one, or import a file.'}
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
  return (
    <>
      <Choice label="Category" name="category" options={items.map(({ slug, name }) => [slug, name] as const)} />
      <Unread of={categories} />
    </>
  )
}
