import { Id } from '@backoffice/contracts/fields.ts'
import { namedObject } from '@backoffice/contracts/named.ts'
import { PRODUCT, VARIANT } from '@backoffice/contracts/product.ts'
import { operation } from '@backoffice/http/operation.ts'
import { ok } from '@backoffice/http/reply.ts'
import { z } from 'zod'
import { noSuchProduct, readProduct } from './read-products.ts'

const VariantSettings = namedObject('VariantSettings', { sku: VARIANT.shapes.answer.sku, ...VARIANT.shapes.settings })
const MediaSettings = namedObject('MediaSettings', { id: Id, asset: Id, position: z.int() })

/** What a create or an update takes and no product body shows, under the names of the create's body (OP-270). */
const ProductSettings = namedObject(
  'ProductSettings',
  {
    ...PRODUCT.shapes.settings,
    /** Names, as a create sends them. */
    tags: z.array(z.string()),
    medias: z.array(MediaSettings),
    variants: z.array(VariantSettings),
  },
  {
    slug: 'linen-shirt',
    tags: ['Summer'],
    preorder_stops_at: null,
    max_cart_quantity: 5,
    low_stock_threshold: 2,
    purchase_note: 'Wash cold',
    tax_class: null,
    medias: [],
    variants: [
      { sku: 'LINEN-M', cost: { EUR: 2100 } },
      { sku: 'LINEN-L', cost: { EUR: 2300 } },
    ],
  },
)
export type ProductSettings = z.output<typeof ProductSettings>

/** GET /v1/products/{id}/settings (extension; OP-270), for those who may change the product. */
export const getProductSettings = operation({
  operationId: 'getProductSettings',
  method: 'GET',
  path: '/v1/products/{id}/settings',
  summary: 'Read what a product was given and its body does not show',
  scope: 'product::update',
  responses: { 200: ProductSettings },
  openPoints: ['OP-270'],
  extension: true,

  handle: ({ params, inWorkspace }) =>
    inWorkspace(async (tx) => {
      const product = await readProduct(tx, params.id, tx.last)
      if (product === undefined) throw noSuchProduct(params.id)
      const settings: ProductSettings = {
        ...PRODUCT.settingsOf(product, { tags: product.tags }),
        tags: product.tags.map(({ name }) => name),
        medias: product.media.map(({ id, asset, position }) => ({ id, asset, position })),
        variants: product.variants.map((variant) => ({ sku: variant.sku, ...VARIANT.settingsOf(variant) })),
      }
      return ok(settings)
    }),
})
