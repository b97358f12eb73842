import { useQuery } from '@tanstack/react-query'
import { Link, useNavigate, useParams } from '@tanstack/react-router'
import { useState } from 'react'
import { api, bodyOf } from '../api/client.ts'
import { Act, counted, useAction } from '../parts/action.tsx'
import { Answer } from '../parts/answer.tsx'
import { Badge } from '../parts/badge.tsx'
import { Facts, Page, Section } from '../parts/page.tsx'
import { Picture } from '../parts/picture.tsx'
import { type Column, Table } from '../parts/table.tsx'
import { Id, Long, nameIn, Time } from '../parts/text.tsx'
import { EditProduct, EditVariant, readProduct } from './edit-product.tsx'
import { PriceList, type Product, Stock, typeOf } from './product.tsx'
import { ProductSettings } from './product-settings.tsx'

type Variant = Product['variants'][number]

/** One product with its variants. */
export function ProductPage() {
  const { product: id } = useParams({ from: '/products/$product' })
  const navigate = useNavigate()
  const [isEditing, setIsEditing] = useState(false)
  const found = useQuery({ queryKey: ['products', id], queryFn: () => readProduct(id) })
  const remove = useAction(() => bodyOf(api.DELETE('/v1/products/{id}', { params: { path: { id } } })), {
    done: 'The product is deleted.',
    changes: ['products', 'collections'],
    onDone: () => navigate({ to: '/products', replace: true }),
  })
  const name = found.data?.body.name
  return (
    <Page
      title={name ?? 'Product'}
      above={<Link to="/products">Products</Link>}
      actions={
        found.data && (
          <>
            <Act needs="product::update" className="primary" onAct={() => setIsEditing(true)}>
              Edit
            </Act>
            <Act
              needs="product::delete"
              className="danger"
              isBusy={remove.isPending}
              question={`Delete ${nameIn(name ?? '')}? It goes from all collections. Orders keep their lines.`}
              onAct={() => remove.mutate()}
            >
              Delete
            </Act>
          </>
        )
      }
    >
      <Answer of={found}>
        {({ body, tag }) => (
          <>
            {isEditing && <EditProduct of={{ body, tag }} onClose={() => setIsEditing(false)} />}
            <About product={body} />
            <Variants product={body} />
            <ProductSettings id={id} />
          </>
        )}
      </Answer>
    </Page>
  )
}

const About = ({ product }: { readonly product: Product }) => (
  <Section title="About">
    {product.media.length > 0 && (
      <div className="actions">
        {product.media.map(({ id, thumbnail }) => (
          <Picture key={id} url={thumbnail} alt={`${product.name}, a picture`} isLarge />
        ))}
      </div>
    )}
    <Facts
      of={{
        Status: <Badge state={product.status} />,
        Type: typeOf(product),
        Stock: <Stock count={product.total_stock} />,
        Price: <PriceList min={product.price_range.min} max={product.price_range.max} />,
        Categories: product.categories.map(({ name }) => name).join(', '),
        'Needs shipping': product.requires_shipping ? 'yes' : 'no',
        'Can be pre-ordered': product.can_preorder ? 'yes' : 'no',
        Created: <Time at={product.created_at} />,
        Changed: <Time at={product.updated_at} />,
        Id: <Id id={product.id} />,
      }}
    />
    {product.description && <Long text={product.description} most={1000} />}
  </Section>
)

/** The variants with what tells them apart. */
function Variants({ product: { id, type, options, variants } }: { readonly product: Product }) {
  const [editing, setEditing] = useState<Variant>()
  const hasMany = type === 'VARIABLE_PRODUCT'
  const columns: readonly Column<Variant>[] = [
    { head: 'SKU', cell: ({ sku }) => sku },
    ...options.map((option) => ({
      head: option.name,
      cell: ({ attributes }: Variant) => attributes[option.id] ?? '–',
    })),
    { head: 'Price', cell: ({ price }) => <PriceList min={price} />, isNumber: true },
    { head: 'Stock', cell: ({ stock }) => <Stock count={stock} />, isNumber: true },
    ...(hasMany
      ? [
          {
            head: 'Change',
            cell: (variant: Variant) => (
              <Act needs="product::update" aria-label={`Edit ${variant.sku}`} onAct={() => setEditing(variant)}>
                Edit
              </Act>
            ),
          },
        ]
      : []),
  ]
  return (
    <Section title={hasMany ? counted(variants.length, 'variant') : 'Price and stock'}>
      {editing && <EditVariant product={id} variant={editing} onClose={() => setEditing(undefined)} />}
      <Table label="Variants" rows={variants} keyOf={(variant) => variant.id} columns={columns} />
    </Section>
  )
}
