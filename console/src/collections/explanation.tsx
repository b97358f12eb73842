import { useQuery } from '@tanstack/react-query'
import { api, bodyOf } from '../api/client.ts'
import { Dialog } from '../parts/dialog.tsx'
import { Answer } from '../parts/page.tsx'
import type { Product } from '../products/product.tsx'
import type { Collection } from './collection.tsx'
import { conditionText } from './rules.ts'

interface ExplanationProps {
  readonly collection: Collection
  readonly product: Product
  readonly onClose: () => void
}

/** Why a product is in a collection or not: each condition of the rules with whether it holds. */
export function Explanation({ collection: { id, rules }, product, onClose }: ExplanationProps) {
  const path = { handle: id, product_id: product.id }
  const found = useQuery({
    queryKey: ['collections', id, 'explain', product.id],
    queryFn: () => bodyOf(api.GET('/v1/collections/{handle}/products/{product_id}/explain', { params: { path } })),
    staleTime: 0,
  })
  return (
    <Dialog title={product.name} onClose={onClose}>
      <Answer of={found}>
        {({ holds, conditions }) => (
          <>
            <p>
              <strong>{sentenceOf(holds, product)}</strong>{' '}
              {rules?.match === 'any' ? 'One condition is enough.' : 'All conditions have to be so.'}
            </p>
            <ul className="plain-list">
              {conditions.map(({ position, holds: isSo }) => (
                <li key={position}>
                  <span className={isSo ? 'badge good' : 'badge bad'}>{isSo ? 'yes' : 'no'}</span>{' '}
                  <span className="long">{wordsAt(rules, position)}</span>
                </li>
              ))}
            </ul>
          </>
        )}
      </Answer>
    </Dialog>
  )
}

function sentenceOf(holds: boolean, { status }: Product): string {
  if (!holds) return 'The rules do not gather it.'
  return status === 'ACTIVE'
    ? 'The rules gather it.'
    : `The rules gather it, but it is ${status.toLowerCase()}, so shops do not show it.`
}

function wordsAt(rules: Collection['rules'], position: number): string {
  const condition = rules?.conditions[position]
  return condition ? conditionText(condition) : `Condition ${position + 1}`
}
