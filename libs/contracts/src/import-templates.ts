import { z } from 'zod'
import {
  CategoryRow,
  CollectionRow,
  CustomerRow,
  ProductRow,
  StockRow,
  type Template,
  TemplateKey,
  VariantRow,
} from './imports.ts'
import { namedObject } from './named.ts'

/** The types of a column (OP-53). */
const ColumnType = z.enum(['string', 'integer', 'money', 'boolean', 'uuid', 'date', 'datetime', 'enum', 'list'])
export type ColumnType = z.output<typeof ColumnType>

/** A column of a template (spec: Import template). `references` is `<template>.<column>`, or null. */
export const ImportColumn = namedObject('ImportColumn', {
  name: z.string(),
  type: ColumnType,
  required: z.boolean(),
  enum: z.array(z.string()),
  references: z.string().nullable(),
})
export type ImportColumn = z.output<typeof ImportColumn>

/** A template of imports (spec: Import template). */
export const ImportTemplate = namedObject('ImportTemplate', {
  key: TemplateKey,
  file: z.string(),
  header: z.array(z.string()),
  columns: z.array(ImportColumn),
})
export type ImportTemplate = z.output<typeof ImportTemplate>

type Cells<Row> = { readonly [Column in keyof Row]?: string }

/** What a template adds to the schema of its rows. */
interface TemplateRow<Schema extends z.ZodObject> {
  readonly row: Schema
  /** The column of the natural key (OP-54). */
  readonly key: keyof z.output<Schema> & string
  /** Columns whose values name something that has to be there: `<template>.<column>`. */
  readonly references?: Cells<z.output<Schema>>
  /** A row that validates. */
  readonly example: Cells<z.output<Schema>>
}

const templateRow = <Schema extends z.ZodObject>(template: TemplateRow<Schema>) => template

/** The rows of each template, in the order of the catalog of templates. */
export const TEMPLATE_ROWS = {
  products: templateRow({
    row: ProductRow,
    key: 'sku',
    references: { categories: 'categories.slug' },
    example: {
      sku: 'JUG-01',
      name: 'Water jug',
      type: 'SIMPLE_PRODUCT',
      status: 'ACTIVE',
      slug: 'water-jug',
      description: 'Holds a litre',
      price: 'NGN:450000;USD:300',
      cost: 'NGN:200000',
      stock: '25',
      tags: 'kitchen;new',
      requires_shipping: 'true',
      can_preorder: 'false',
    },
  }),
  product_variants: templateRow({
    row: VariantRow,
    key: 'sku',
    references: { product: 'products.slug' },
    example: {
      sku: 'SHIRT-RED-M',
      product: 'shirt',
      option1_name: 'Color',
      option1_value: 'Red',
      option2_name: 'Size',
      option2_value: 'M',
      price: 'NGN:900000',
      stock: '10',
    },
  }),
  stock: templateRow({
    row: StockRow,
    key: 'sku',
    references: { sku: 'product_variants.sku' },
    example: { sku: 'JUG-01', stock: '25' },
  }),
  categories: templateRow({
    row: CategoryRow,
    key: 'slug',
    references: { parent: 'categories.slug' },
    example: { slug: 'jugs', name: 'Jugs', position: '1' },
  }),
  customers: templateRow({
    row: CustomerRow,
    key: 'email',
    example: { email: 'ada@example.com', firstname: 'Ada', lastname: 'Byron', phone: '+2348000000000' },
  }),
  collections: templateRow({
    row: CollectionRow,
    key: 'handle',
    example: {
      handle: 'summer',
      name: 'Summer',
      sort_order: 'CREATED_DESC',
      membership_type: 'MANUAL',
      published: 'true',
      publish_at: '2026-06-01T00:00:00Z',
    },
  }),
} satisfies Record<Template, unknown>

/** The template with its columns, as the API shows it. */
export function importTemplate(key: Template): ImportTemplate {
  const { row, references = {} } = TEMPLATE_ROWS[key] as TemplateRow<z.ZodObject>
  const columns = Object.entries(row.shape).map(([name, schema]) =>
    columnOf(name, schema as z.ZodType, references[name]),
  )
  return { key, file: `${key}.csv`, header: columns.map(({ name }) => name), columns }
}

function columnOf(name: string, schema: z.ZodType, references = null as string | null): ImportColumn {
  const isOptional = schema instanceof z.ZodOptional
  const value = isOptional ? (schema.unwrap() as z.ZodType) : schema
  return {
    name,
    type: typeOf(value),
    required: !isOptional,
    enum: value instanceof z.ZodEnum ? value.options.map(String) : [],
    references,
  }
}

/** The column type of a member's schema. Throws for a schema that no cell can be read into. */
function typeOf(schema: z.ZodType): ColumnType {
  if (schema instanceof z.ZodRecord) return 'money'
  if (schema instanceof z.ZodArray) return 'list'
  if (schema instanceof z.ZodEnum) return 'enum'
  if (schema instanceof z.ZodBoolean) return 'boolean'
  if (schema instanceof z.ZodNumber) return 'integer'
  if (schema instanceof z.ZodISODate) return 'date'
  if (schema instanceof z.ZodGUID) return 'uuid'
  if (schema instanceof z.ZodString || schema instanceof z.ZodStringFormat)
    return schema.format === 'datetime' ? 'datetime' : 'string'
  throw new Error(`no column type fits the schema ${schema.type}`)
}
