import { useQuery } from '@tanstack/react-query'
import { Link, useNavigate, useParams } from '@tanstack/react-router'
import { api, bodyOf } from '../api/client.ts'
import { ApiAct, counted, OpenButton } from '../parts/action.tsx'
import { Facts, Page, Section } from '../parts/page.tsx'
import { Picture } from '../parts/picture.tsx'
import { type Column, Table } from '../parts/table.tsx'
import { Badge, Id, Long, nameIn, Time } from '../parts/text.tsx'
import { EditProduct, EditVariant, readProduct } from './edit-product.tsx'
import { PriceList, type Product, Stock, typeOf } from './product.tsx'
import { ProductSettings } from './product-settings.tsx'

type Variant = Product['variants'][number]

/** One product with its variants. */
export function ProductPage() {
  const { product: id } = useParams({ from: '/products/$product' })
  const navigate = useNavigate()
  const found = useQuery({ queryKey: ['products', id], queryFn: () => readProduct(id) })
  return (
    <Page
      title={found.data?.body.name ?? 'Product'}
      above={<Link to="/products">Products</Link>}
      actions={
        found.data && (
          <>
            <OpenButton
              needs="product::update"
              className="primary"
              opens={(close) => <EditProduct of={found.data} onClose={close} />}
            >
              Edit
            </OpenButton>
            <ApiAct
              needs="product::delete"
              className="danger"
              question={`Delete ${nameIn(found.data.body.name)}? It goes from all collections. Orders keep their lines.`}
              act={() => bodyOf(api.DELETE('/v1/products/{id}', { params: { path: { id } } }))}
              done="The product is deleted."
              changes={['products', 'collections']}
              onDone={() => navigate({ to: '/products', replace: true })}
            >
              Delete
            </ApiAct>
          </>
        )
      }
      of={found}
    >
      {({ body }) => (
        <>
          <About product={body} />
          <Variants product={body} />
          <ProductSettings id={id} />
        </>
      )}
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
              <OpenButton
                needs="product::update"
                aria-label={`Edit ${variant.sku}`}
                opens={(close) => <EditVariant product={id} variant={variant} onClose={close} />}
              >
                Edit
              </OpenButton>
            ),
          },
        ]
      : []),
  ]
  return (
    <Section title={hasMany ? counted(variants.length, 'variant') : 'Price and stock'}>
      <Table label="Variants" rows={variants} columns={columns} />
    </Section>
  )
}
