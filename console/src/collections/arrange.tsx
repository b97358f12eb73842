import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { api, bodyOf } from '../api/client.ts'
import { Act, useAction } from '../parts/action.tsx'
import { Answer } from '../parts/answer.tsx'
import { Section } from '../parts/page.tsx'
import type { Product } from '../products/product.tsx'
import { type Collection, type Products, useCollections } from './collection.tsx'

/** As many products as one request arranges. */
const MOST = 1000
const A_PAGE = '100'

interface ArrangeProps {
  readonly collection: Collection
  readonly onClose: () => void
}

/** Puts the products of a hand-picked collection in an order. */
export function Arrange({ collection: { id, product_count }, onClose }: ArrangeProps) {
  const { productsOf } = useCollections()
  const [moved, setMoved] = useState<readonly Product[]>()
  const all = useQuery({
    queryKey: ['collections', id, 'arrange'],
    queryFn: () => readAll((search) => productsOf(id, search)),
    enabled: product_count <= MOST,
    // What was moved refers to what was read.
    staleTime: Number.POSITIVE_INFINITY,
    gcTime: 0,
  })
  const save = useAction(
    (products: readonly Product[]) => {
      const positions = products.map(({ id: product }, position) => ({ product, position }))
      return bodyOf(
        api.PUT('/v1/collections/{handle}/products/order', { params: { path: { handle: id } }, body: { positions } }),
      )
    },
    { done: 'The order is saved.', changes: ['collections'], onDone: onClose },
  )
  if (product_count > MOST) {
    return (
      <Section title="Arrange" actions={<Cancel onClose={onClose} />}>
        <p>
          The collection has more than {MOST.toLocaleString()} products, too many to be arranged here. Choose an order
          by name, age or stock, or set positions through the API.
        </p>
      </Section>
    )
  }
  const products = moved ?? all.data ?? []
  return (
    <Section
      title="Arrange"
      actions={
        <>
          <Act
            needs="product::update"
            className="primary"
            disabled={moved === undefined}
            isBusy={save.isPending}
            onAct={() => save.mutate(products)}
          >
            Save order
          </Act>
          <Cancel onClose={onClose} />
        </>
      }
    >
      <Answer of={all}>
        {() => (
          <ol className="arranged">
            {products.map((product, index) => (
              <li key={product.id}>
                <span className="grow long">{product.name}</span>
                <Move
                  label={`First: ${product.name}`}
                  isOff={index === 0}
                  onMove={() => setMoved(move(products, index, 0))}
                >
                  First
                </Move>
                <Move
                  label={`Move ${product.name} up`}
                  isOff={index === 0}
                  onMove={() => setMoved(move(products, index, index - 1))}
                >
                  ↑
                </Move>
                <Move
                  label={`Move ${product.name} down`}
                  isOff={index === products.length - 1}
                  onMove={() => setMoved(move(products, index, index + 1))}
                >
                  ↓
                </Move>
              </li>
            ))}
          </ol>
        )}
      </Answer>
    </Section>
  )
}

const Cancel = ({ onClose }: { readonly onClose: () => void }) => (
  <button type="button" onClick={onClose}>
    Cancel
  </button>
)

interface MoveProps {
  readonly label: string
  readonly isOff: boolean
  readonly onMove: () => void
  readonly children: string
}

const Move = ({ label, isOff, onMove, children }: MoveProps) => (
  <button type="button" aria-label={label} disabled={isOff} onClick={onMove}>
    {children}
  </button>
)

function move(products: readonly Product[], from: number, to: number): readonly Product[] {
  const others = products.toSpliced(from, 1)
  return others.toSpliced(to, 0, ...products.slice(from, from + 1))
}

async function readAll(read: (search: Record<string, string>) => Promise<Products>): Promise<readonly Product[]> {
  const all: Product[] = []
  for (let after: string | undefined; ; ) {
    const page = await read({ limit: A_PAGE, ...(after && { after }) })
    all.push(...page.items)
    after = page.items.at(-1)?.id
    if (!page.has_next_page || after === undefined || all.length >= MOST) return all
  }
}
