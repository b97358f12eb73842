import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { allOf } from '../api/all-of.ts'
import { api, bodyOf } from '../api/client.ts'
import { ApiAct } from '../parts/action.tsx'
import { Unsaved } from '../parts/dialog.tsx'
import { Section } from '../parts/page.tsx'
import { Long } from '../parts/text.tsx'
import type { Product } from '../products/product.tsx'
import { type Collection, useCollections } from './collection.tsx'

/** As many products as one request arranges. */
const MOST = 1000

interface ArrangeProps {
  readonly collection: Collection
  readonly onClose: () => void
}

/** Puts the products of a hand-picked collection in an order. */
export function Arrange({ collection: { id, product_count }, onClose }: ArrangeProps) {
  const params = { path: { handle: id } }
  const { productsOf } = useCollections()
  const readAll = () => allOf((query) => productsOf(id, { ...query, limit: String(query.limit) }), MOST)
  const [moved, setMoved] = useState<readonly Product[]>()
  /** How somebody else has arranged them meanwhile. */
  const [theirs, setTheirs] = useState<readonly Product[]>()
  const all = useQuery({
    queryKey: ['collections', id, 'arrange'],
    queryFn: readAll,
    enabled: product_count <= MOST,
    // What was moved refers to what was read.
    staleTime: Number.POSITIVE_INFINITY,
    gcTime: 0,
  })
  if (product_count > MOST) {
    return (
      <Section title="Arrange" isFocused actions={<Cancel onClose={onClose} />}>
        <p>
          The collection has more than {MOST.toLocaleString()} products, too many to be arranged here. Choose an order
          by name, age or stock, or set positions through the API.
        </p>
      </Section>
    )
  }
  const products = moved ?? all.data ?? []
  /** Products that somebody has taken out meanwhile are left out. */
  async function save() {
    const now = await readAll()
    if (!areInOrder(now, theirs ?? all.data ?? []) && !areInOrder(now, products)) {
      setTheirs(now)
      throw new Error(
        'Somebody else has arranged the products meanwhile. Save once more to put your order in the place of theirs.',
      )
    }
    const there = new Set(now.map((product) => product.id))
    const left = products.filter((product) => there.has(product.id))
    const body = { positions: left.map(({ id: product }, position) => ({ product, position })) }
    await bodyOf(api.PUT('/v1/collections/{handle}/products/order', { params, body }))
  }
  return (
    <Section
      title="Arrange"
      isFocused
      actions={
        <>
          <ApiAct
            needs="product::update"
            className="primary"
            disabled={moved === undefined}
            act={save}
            done="The order is saved."
            changes={['collections']}
            onDone={onClose}
          >
            {theirs ? 'Save mine' : 'Save order'}
          </ApiAct>
          <Cancel onClose={onClose} />
        </>
      }
      of={all}
    >
      {() => (
        <Unsaved>
          <form>
            <input type="hidden" name="order" value={products.map((product) => product.id).join()} />
          </form>
          <ol className="arranged">
            {products.map((product, index) => (
              <li key={product.id}>
                <span className="grow">
                  <Long text={product.name} isCut />
                </span>
                {movesOf(product, index).map(([text, label, to]) => (
                  <button
                    key={text}
                    type="button"
                    aria-label={label}
                    // Not `disabled`: the button that moved it to an end would lose the focus.
                    aria-disabled={to === index || products[to] === undefined}
                    onClick={({ currentTarget }) => {
                      if (currentTarget.ariaDisabled === 'true') return
                      setMoved(products.toSpliced(index, 1).toSpliced(to, 0, product))
                    }}
                  >
                    {text}
                  </button>
                ))}
              </li>
            ))}
          </ol>
        </Unsaved>
      )}
    </Section>
  )
}

/** Whether products are in the order of others; those that are not in both do not count. */
export function areInOrder(products: readonly Pick<Product, 'id'>[], others: typeof products): boolean {
  const idsOf = (some: typeof products, among: typeof products) => {
    const ids = new Set(among.map(({ id }) => id))
    return some.flatMap(({ id }) => (ids.has(id) ? [id] : [])).join()
  }
  return idsOf(products, others) === idsOf(others, products)
}

const Cancel = ({ onClose }: { readonly onClose: () => void }) => (
  <button type="button" onClick={onClose}>
    Cancel
  </button>
)

/** Where a product can go, on buttons. */
const movesOf = ({ name }: Product, index: number) =>
  [
    ['First', `First: ${name}`, 0],
    ['↑', `Move ${name} up`, index - 1],
    ['↓', `Move ${name} down`, index + 1],
  ] as const
