import { useState } from 'react'
import { api, bodyOf } from '../api/client.ts'
import { Act, ApiAct, counted, OpenButton, useAction } from '../parts/action.tsx'
import { Dialog } from '../parts/dialog.tsx'
import { List, useChosen, useList } from '../parts/list.tsx'
import { Empty, Section } from '../parts/page.tsx'
import type { Column } from '../parts/table.tsx'
import { IMAGE, NAME, PRICE_AND_STOCK, type Product } from '../products/product.tsx'
import { useReads } from '../session/session.ts'
import { Arrange } from './arrange.tsx'
import { type Collection, useCollections } from './collection.tsx'
import { Explanation } from './explanation.tsx'
import { ProductPicker } from './product-picker.tsx'

/** The products that the collection shows, in its order, and what changes them. */
export function CollectionProducts({ collection }: { readonly collection: Collection }) {
  const { id, membership_type, sort_order, product_count, is_gathering } = collection
  const reads = useReads()
  const { productsOf } = useCollections()
  const [chosen, setChosen] = useChosen()
  const [isArranging, setIsArranging] = useState<boolean>()
  const [explained, explain] = useState<Product>()
  const path = { handle: id }
  const isManual = membership_type === 'MANUAL'
  const isSmart = membership_type === 'SMART' && reads('product::update')
  // Once they are gathered they are others.
  const products = useList(['collections', id, 'products', is_gathering], ({ after }) =>
    productsOf(id, after ? { after } : {}),
  )
  if (isArranging) return <Arrange collection={collection} onClose={() => setIsArranging(false)} />
  return (
    <Section
      title="Products"
      isFocused={isArranging === false}
      actions={
        <>
          {isManual && (
            <>
              <OpenButton needs="product::create" opens={(close) => <AddProducts collection={id} onClose={close} />}>
                Add products
              </OpenButton>
              {sort_order === 'MANUAL' && (
                <Act needs="product::update" disabled={product_count < 2} onAct={() => setIsArranging(true)}>
                  Arrange
                </Act>
              )}
              <ApiAct
                needs="product::delete"
                disabled={chosen.size === 0}
                act={() => {
                  const body = { products: [...chosen] }
                  return bodyOf(api.DELETE('/v1/collections/{handle}/products', { params: { path }, body }))
                }}
                done={`${counted(chosen.size, 'product is', 'products are')} out of the collection.`}
                changes={['collections']}
                onDone={() => setChosen(new Set())}
              >
                {chosen.size === 0 ? 'Take out' : `Take out ${chosen.size}`}
              </ApiAct>
            </>
          )}
          {isSmart && (
            <OpenButton
              needs="product::update"
              opens={(close) => (
                <Dialog title="Which product?" onClose={close}>
                  <ProductPicker
                    verb="Explain"
                    onPick={(product) => {
                      close()
                      explain(product)
                    }}
                  />
                </Dialog>
              )}
            >
              Why is a product not here?
            </OpenButton>
          )}
        </>
      }
    >
      {explained && <Explanation collection={collection} product={explained} onClose={() => explain(undefined)} />}
      <List
        of={products}
        label="Products of the collection"
        columns={isSmart ? [...COLUMNS, whyColumn(explain)] : COLUMNS}
        {...(isManual && { chosen, onChoose: setChosen })}
        empty={
          <Empty title="No products">
            {isManual ? 'Add some. Hidden and archived ones are in it, but not shown.' : 'No active product is in it.'}
          </Empty>
        }
      />
    </Section>
  )
}

interface AddProductsProps {
  readonly collection: string
  readonly onClose: () => void
}

function AddProducts({ collection: handle, onClose }: AddProductsProps) {
  const add = useAction(
    ({ id }: Product) => {
      const params = { path: { handle } }
      return bodyOf(api.POST('/v1/collections/{handle}/products', { params, body: { products: [id] } }))
    },
    { done: 'The product is added at the end.', changes: ['collections'] },
  )
  return (
    <Dialog title="Add products" onClose={onClose}>
      <ProductPicker verb="Add" isBusy={add.isPending} onPick={(product) => add.mutate(product)} />
    </Dialog>
  )
}

const COLUMNS: readonly Column<Product>[] = [IMAGE, NAME, ...PRICE_AND_STOCK]

const whyColumn = (explain: (product: Product) => void): Column<Product> => ({
  head: 'Reason',
  cell: (product) => (
    <Act needs="product::update" aria-label={`Why is ${product.name} in it?`} onAct={() => explain(product)}>
      Why?
    </Act>
  ),
})
