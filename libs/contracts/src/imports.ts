import { z } from 'zod'
import { COLLECTION } from './collection.ts'
import { CUSTOMER } from './customer.ts'
import type { ApiError } from './errors.ts'
import { CategorySlug, Id, Name, Position, SlugOrId } from './fields.ts'
import { LIMITS } from './limits.ts'
import { inOrder } from './members.ts'
import { named, namedObject } from './named.ts'
import { PRODUCT, PRODUCT_STATUSES, VARIANT } from './product.ts'

/** The templates of imports (OP-54). */
export const TEMPLATES = ['products', 'product_variants', 'stock', 'categories', 'customers', 'collections'] as const
export type Template = (typeof TEMPLATES)[number]

/** The name of a template (OP-54). */
export const TemplateKey = named('ImportTemplateKey', z.enum(TEMPLATES))

/** Rows in a batch at most; the whole record stays below 512 KiB. */
export const ROWS_PER_BATCH = 500

/** The columns of a variant's options. */
const OPTION_COLUMNS = {
  option1_name: Name.optional(),
  option1_value: Name.optional(),
  option2_name: Name.optional(),
  option2_value: Name.optional(),
  option3_name: Name.optional(),
  option3_value: Name.optional(),
}

/** The URL of an image that an import gives a product (OP-281). */
const ImageUrl = z
  .url({ protocol: /^https?$/, error: 'must be a URL that begins with https:// or http://' })
  .max(LIMITS.imageUrlLength)

/**
 * A row of the template `products`; its key is `sku` (OP-55). One of a VARIABLE_PRODUCT is a variant of the product
 * with its `slug` (OP-278).
 */
export const ProductRow = z.strictObject({
  ...inOrder(['sku', 'name', 'type', 'status', 'slug', 'description', 'price', 'cost', 'stock', 'categories', 'tags'], {
    ...PRODUCT.shapes.imported,
    ...VARIANT.shapes.imported,
  }),
  ...OPTION_COLUMNS,
  opening_stock: VARIANT.shapes.imported.stock,
  images: z.array(ImageUrl).min(1).max(LIMITS.mediaPerProduct).optional(),
})
export type ProductRow = z.output<typeof ProductRow>

const { sku: VariantSku, ...VARIANT_COLUMNS } = VARIANT.shapes.imported

/** A row of the template `product_variants`; its key is `sku`, `product` a variable product's id or slug (OP-188). */
export const VariantRow = z.strictObject({
  sku: VariantSku,
  product: SlugOrId.optional(),
  ...OPTION_COLUMNS,
  ...inOrder(['price', 'cost', 'stock'], VARIANT_COLUMNS),
})
export type VariantRow = z.output<typeof VariantRow>

/** A row of the template `stock`: the current stock of a SKU (OP-55). */
export const StockRow = z.strictObject({ sku: VARIANT.shapes.create.sku, stock: VARIANT.shapes.create.stock })
export type StockRow = z.output<typeof StockRow>

/** A row of the template `categories`; its key is `slug`, `parent` the slug of another one (OP-55). */
export const CategoryRow = z.strictObject({
  slug: CategorySlug,
  name: Name.optional(),
  parent: CategorySlug.optional(),
  position: Position.optional(),
})
export type CategoryRow = z.output<typeof CategoryRow>

const PUBLISH_TIMES = ['publish_at', 'unpublish_at'] as const

/** A row of the template `collections`; its key is `handle`, `rules` is JSON text of the form of OP-30 (OP-118). */
export const CollectionRow = z.strictObject(
  inOrder(
    ['handle', 'name', 'description', 'sort_order', 'membership_type', 'rules', 'published', ...PUBLISH_TIMES],
    COLLECTION.shapes.imported,
  ),
)
export type CollectionRow = z.output<typeof CollectionRow>

/** A row of the template `customers`; its key is `email`, whatever its case (OP-131). */
export const CustomerRow = z.strictObject(inOrder(['email'], CUSTOMER.shapes.imported))
export type CustomerRow = z.output<typeof CustomerRow>

/**
 * A batch of an import's rows, for the service that owns the template. Batches are numbered from 0 and applied in
 * order; `row` is the row's number in a spreadsheet (OP-52); `product_statuses` are the statuses that the workspace
 * uses (OP-13).
 */
const batchOf = <T extends Template, Values extends z.ZodType>(template: T, values: Values) =>
  z.strictObject({
    import_id: Id,
    batch: z.int().min(0),
    template: z.literal(template),
    product_statuses: z.array(z.enum(PRODUCT_STATUSES)),
    rows: z
      .array(z.strictObject({ row: z.int().min(1), values }))
      .min(1)
      .max(ROWS_PER_BATCH),
  })

/** The data of batches, by the types of their records. */
export const BATCHES = {
  'batch.products': batchOf('products', ProductRow),
  'batch.product_variants': batchOf('product_variants', VariantRow),
  'batch.stock': batchOf('stock', StockRow),
  'batch.categories': batchOf('categories', CategoryRow),
  'batch.customers': batchOf('customers', CustomerRow),
  'batch.collections': batchOf('collections', CollectionRow),
}

/**
 * The reason why a row was not applied (OP-52). The codes are those of the API for the same mistake in a request
 * (OP-02), and `duplicate` for a key of an earlier row of the batch (OP-56).
 */
export const RowError = z.strictObject({
  column: z.string(),
  code: z.enum(['bad_request', 'unprocessable', 'conflict', 'duplicate']),
  message: z.string(),
  value: z.string().nullable(),
})
export type RowError = z.output<typeof RowError>

/** A row's error, as an operation would throw it. */
export const rowErrorOf = ({ code, path, reason }: ApiError): Omit<RowError, 'value'> => ({
  column: String(path[0] ?? ''),
  code: code === 'bad_request' || code === 'conflict' ? code : 'unprocessable',
  message: reason.length > MESSAGE_LENGTH ? `${reason.slice(0, MESSAGE_LENGTH).toWellFormed()}…` : reason,
})

/** A cell of rules may have a thousand mistakes, each of which the API's message tells. */
const MESSAGE_LENGTH = 1000

/** A text of a file as reports show it: storable in PostgreSQL, and cut, since 500 of them must fit a record. */
export const reportedText = (text: string): string => text.slice(0, 255).replaceAll('\0', '').toWellFormed()

/**
 * The body of `POST /internal/imports/check`: rows of a template that its owner looks at as if they were a batch,
 * without changing anything. `earlier` are keys of earlier rows of the file that these rows refer to: the parents of
 * categories. With `in_parts`, the answer may have fewer rows, with one at least: those left are asked about again.
 */
export const ImportCheck = z.object({
  template: z.enum(TEMPLATES),
  product_statuses: z.array(z.enum(PRODUCT_STATUSES)),
  earlier: z.array(z.string()),
  in_parts: z.boolean().default(false),
  rows: z.array(z.object({ row: z.int().min(1), values: z.record(z.string(), z.unknown()) })).max(ROWS_PER_BATCH),
})
export type ImportCheck = z.output<typeof ImportCheck>

/** What applying the rows would do now: row numbers by outcome, and the refusal of each row that would fail. */
export const ImportCheckAnswer = z.object({
  created: z.array(z.int()),
  updated: z.array(z.int()),
  unchanged: z.array(z.int()),
  failed: z.array(z.object({ row: z.int(), error: RowError })),
})
export type ImportCheckAnswer = z.output<typeof ImportCheckAnswer>

/** The outcome of each row of a batch, in order. A row without a change counts as updated (OP-55). */
export const ImportResult = z.strictObject({
  import_id: Id,
  batch: z.int().min(0),
  template: z.enum(TEMPLATES),
  rows: z.array(
    z.strictObject({
      row: z.int().min(1),
      status: z.enum(['created', 'updated', 'failed']),
      errors: z.array(RowError),
    }),
  ),
})
export type ImportResult = z.output<typeof ImportResult>

/** Failed images shown with an import. */
export const FAILED_IMAGES_SHOWN = 100

/** The images of an import by what became of them (OP-281). `failures` has the first of those that failed for good. */
export const ImportImages = namedObject(
  'ImportImages',
  {
    import_id: Id,
    waiting: z.int(),
    added: z.int(),
    failed: z.int(),
    failures: z
      .array(namedObject('ImportImageFailure', { product: Id, url: z.string(), reason: z.string() }))
      .max(FAILED_IMAGES_SHOWN),
  },
  {
    import_id: '0198c7a0-0000-7000-8000-000000000040',
    waiting: 120,
    added: 79,
    failed: 1,
    failures: [
      {
        product: '0198c7a0-0000-7000-8000-000000000001',
        url: 'https://shop.example.com/mug.jpg',
        reason: 'answered 404',
      },
    ],
  },
)
export type ImportImages = z.output<typeof ImportImages>

/** Asks the owner of a template what became of the images of an import. */
export const ImportImagesQuestion = z.strictObject({ import_id: Id })

/** Asks the owner of a template to undo the next changes of an import (OP-151). */
export const ImportUndoStep = z.strictObject({ import_id: Id, template: z.enum(TEMPLATES) })

/** Kept rows shown with an undo. */
export const KEPT_ROWS_SHOWN = 100

/** A resource that an undo left as it is, by what rows of the template call it (OP-151). */
export const KeptRow = namedObject('ImportKeptRow', { key: z.string(), reason: z.string() })
export type KeptRow = z.output<typeof KeptRow>

/** How far an undo is, all steps together. */
export const ImportUndoProgress = z.strictObject({
  deleted: z.int(),
  restored: z.int(),
  kept: z.int(),
  rows: z.array(KeptRow).max(KEPT_ROWS_SHOWN),
  is_done: z.boolean(),
})
export type ImportUndoProgress = z.output<typeof ImportUndoProgress>
