import { keepPreviousData, useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { api, bodyOf } from '../api/client.ts'
import { Answer, Empty } from '../parts/page.tsx'
import { Table } from '../parts/table.tsx'
import { Long } from '../parts/text.tsx'
import { IMAGE, type Product } from '../products/product.tsx'

const PAUSE_MS = 200

interface ProductPickerProps {
  /** What is done with the product, on its button. */
  readonly verb: string
  readonly isBusy?: boolean
  readonly onPick: (product: Product) => void
}

/** Finds products by words, to pick one. */
export function ProductPicker({ verb, isBusy = false, onPick }: ProductPickerProps) {
  const [words, setWords] = useState('')
  const query = words.trim()
  const products = useQuery({
    queryKey: ['products', 'picker', query],
    async queryFn({ signal }) {
      // Letters that follow at once end the search for those before.
      if (query) await new Promise((typed) => setTimeout(typed, PAUSE_MS))
      return bodyOf(api.GET('/v1/products', { params: { query: { limit: 8, ...(query && { query }) } }, signal }))
    },
    placeholderData: keepPreviousData,
  })
  return (
    <>
      <label>
        Search products
        <input
          type="search"
          value={words}
          maxLength={255}
          placeholder="linen shirt"
          onChange={({ target }) => setWords(target.value)}
        />
      </label>
      <Answer of={products}>
        {({ items }) => (
          <Table
            label="Products found"
            rows={items}
            empty={<Empty title="No product is like this" />}
            columns={[
              IMAGE,
              { head: 'Product', cell: ({ name }) => <Long text={name} isCut /> },
              { head: 'SKU', cell: ({ variants }) => <Long text={variants[0]?.sku ?? '–'} isCut /> },
              {
                head: 'Pick',
                cell: (product) => (
                  <button
                    type="button"
                    disabled={isBusy}
                    aria-label={`${verb} ${product.name}`}
                    onClick={() => onPick(product)}
                  >
                    {verb}
                  </button>
                ),
              },
            ]}
          />
        )}
      </Answer>
    </>
  )
}
