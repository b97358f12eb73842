import { keepPreviousData, useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { useState } from 'react'
import { api, bodyOf } from '../api/client.ts'
import { Act, counted, useAction } from '../parts/action.tsx'
import { Empty } from '../parts/answer.tsx'
import { Dialog } from '../parts/dialog.tsx'
import { useFilters } from '../parts/filters.tsx'
import { List, useChosen } from '../parts/list.tsx'
import { Section } from '../parts/page.tsx'
import { Picture } from '../parts/picture.tsx'
import type { Column } from '../parts/table.tsx'
import { PriceRange, type Product, Stock } from '../products/product.tsx'
import { useReads } from '../session/session.ts'
import { Arrange } from './arrange.tsx'
import { type Collection, useCollections } from './collection.tsx'
import { Explanation } from './explanation.tsx'
import { ProductPicker } from './product-picker.tsx'

type Doing = 'adding' | 'arranging' | 'checking' | Product

/** The products that the collection shows, in its order, and what changes them. */
export function CollectionProducts({ collection }: { readonly collection: Collection }) {
  const { id, membership_type, sort_order, product_count, is_gathering } = collection
  const [{ after }] = useFilters()
  const reads = useReads()
  const { productsOf } = useCollections()
  const [chosen, setChosen] = useChosen()
  const [doing, setDoing] = useState<Doing>()
  const end = () => setDoing(undefined)
  const path = { handle: id }
  const isManual = membership_type === 'MANUAL'
  const isSmart = membership_type === 'SMART' && reads('product::update')
  const products = useQuery({
    // Once they are gathered they are others.
    queryKey: ['collections', id, 'products', after, is_gathering],
    queryFn: () => productsOf(id, after ? { after } : {}),
    placeholderData: keepPreviousData,
  })
  const add = useAction(
    (product: Product) =>
      bodyOf(api.POST('/v1/collections/{handle}/products', { params: { path }, body: { products: [product.id] } })),
    { done: 'The product is added at the end.', changes: ['collections'] },
  )
  const remove = useAction(
    () =>
      bodyOf(api.DELETE('/v1/collections/{handle}/products', { params: { path }, body: { products: [...chosen] } })),
    {
      done: () => `${counted(chosen.size, 'product is', 'products are')} out of the collection.`,
      changes: ['collections'],
      onDone: () => setChosen(new Set()),
    },
  )
  if (doing === 'arranging') return <Arrange collection={collection} onClose={end} />
  return (
    <Section
      title="Products"
      actions={
        <>
          {isManual && (
            <>
              <Act needs="product::create" onAct={() => setDoing('adding')}>
                Add products
              </Act>
              {sort_order === 'MANUAL' && (
                <Act needs="product::update" disabled={product_count < 2} onAct={() => setDoing('arranging')}>
                  Arrange
                </Act>
              )}
              <Act
                needs="product::delete"
                disabled={chosen.size === 0}
                isBusy={remove.isPending}
                onAct={() => remove.mutate()}
              >
                {chosen.size === 0 ? 'Take out' : `Take out ${chosen.size}`}
              </Act>
            </>
          )}
          {isSmart && (
            <Act needs="product::update" onAct={() => setDoing('checking')}>
              Why is a product not here?
            </Act>
          )}
        </>
      }
    >
      {doing === 'adding' && (
        <Dialog title="Add products" onClose={end}>
          <ProductPicker verb="Add" isBusy={add.isPending} onPick={(product) => add.mutate(product)} />
        </Dialog>
      )}
      {doing === 'checking' && (
        <Dialog title="Which product?" onClose={end}>
          <ProductPicker verb="Explain" onPick={setDoing} />
        </Dialog>
      )}
      {typeof doing === 'object' && <Explanation collection={collection} product={doing} onClose={end} />}
      <List
        of={products}
        label="Products of the collection"
        columns={isSmart ? [...COLUMNS, whyColumn(setDoing)] : COLUMNS}
        {...(isManual && { chosen, onChoose: setChosen })}
        empty={
          <Empty title="No products">
            <p>
              {isManual
                ? 'Add some. Hidden and archived ones are in it, but not shown.'
                : 'No active product is in it.'}
            </p>
          </Empty>
        }
      />
    </Section>
  )
}

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
  { head: 'Price', cell: (product) => <PriceRange of={product} />, isNumber: true },
  { head: 'Stock', cell: ({ total_stock }) => <Stock count={total_stock} />, isNumber: true },
]

const whyColumn = (explain: (product: Product) => void): Column<Product> => ({
  head: 'Reason',
  cell: (product) => (
    <Act needs="product::update" aria-label={`Why is ${product.name} in it?`} onAct={() => explain(product)}>
      Why?
    </Act>
  ),
})
