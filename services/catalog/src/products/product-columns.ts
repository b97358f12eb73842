import type { Product } from '@backoffice/contracts/product.ts'

/** The members of a product that are columns of its own row. */
export interface ProductColumns {
  readonly id: string
  readonly name: string
  readonly slug: string
  readonly status: Product['status']
  readonly type: Product['type']
  readonly description: string | null
  readonly requiresShipping: boolean
  readonly canPreorder: boolean
  readonly preorderStopsAt: Date | null
  readonly maxCartQuantity: number | null
  readonly lowStockThreshold: number | null
  readonly purchaseNote: string | null
  readonly taxClass: string | null
  readonly version: number
  /** How many of its versions changed only what it refers to, such as the name of a category. */
  readonly refreshes: number
  readonly createdAt: Date
  readonly updatedAt: Date
}

type Member = keyof ProductColumns

/** Member → its column of the table `product`, and the column's type. Products are read and written by this list. */
const COLUMNS: Readonly<Record<Member, readonly [column: string, type: string]>> = {
  id: ['id', 'uuid'],
  name: ['name', 'text'],
  slug: ['slug', 'text'],
  status: ['status', 'text'],
  type: ['type', 'text'],
  description: ['description', 'text'],
  requiresShipping: ['requires_shipping', 'boolean'],
  canPreorder: ['can_preorder', 'boolean'],
  preorderStopsAt: ['preorder_stops_at', 'timestamptz'],
  maxCartQuantity: ['max_cart_quantity', 'bigint'],
  lowStockThreshold: ['low_stock_threshold', 'bigint'],
  purchaseNote: ['purchase_note', 'text'],
  taxClass: ['tax_class', 'uuid'],
  version: ['version', 'bigint'],
  refreshes: ['refreshes', 'bigint'],
  createdAt: ['created_at', 'timestamptz'],
  updatedAt: ['updated_at', 'timestamptz'],
}
const MEMBERS = Object.keys(COLUMNS) as Member[]

/** Columns that every change of a product writes. */
const OF_EVERY_CHANGE: readonly Member[] = ['version', 'updatedAt']
const FIXED: readonly Member[] = ['id', 'createdAt', 'refreshes', ...OF_EVERY_CHANGE]
/** The members that generated columns depend on. Setting them costs up to a third of the update, so only changed ones are set. */
const WITH_GENERATED: readonly Member[] = ['name', 'slug']
const OTHERS = MEMBERS.filter((member) => !FIXED.includes(member) && !WITH_GENERATED.includes(member))

const listOf = (members: readonly Member[], sqlOf: (member: Member, column: string, type: string) => string) =>
  members.map((member) => sqlOf(member, ...COLUMNS[member])).join(', ')

/** Parts of SQL statements. `row` holds a column for each member, under the member's name. */
export const PRODUCT_SQL = {
  /** `requires_shipping as "requiresShipping", …` */
  selected: listOf(MEMBERS, (member, column) => `${column} as "${member}"`),
  /** `"requiresShipping" boolean, …` */
  row: listOf(MEMBERS, (member, _, type) => `"${member}" ${type}`),
  /** `requires_shipping, …` */
  columns: listOf(MEMBERS, (_, column) => column),
  /** `"requiresShipping", …` */
  members: listOf(MEMBERS, (member) => `"${member}"`),
} as const

/** The members that are columns. */
export const columnsOf = (product: ProductColumns): Partial<ProductColumns> =>
  Object.fromEntries(MEMBERS.map((member) => [member, product[member]]))

/**
 * `requires_shipping = row."requiresShipping", …`: the columns that changes of products write. There are only eight such lists,
 * so PostgreSQL keeps a plan for each.
 */
export function assignmentsOf(changes: readonly { readonly before: ProductColumns; readonly after: ProductColumns }[]) {
  const differs = (member: Member) =>
    changes.some(({ before, after }) => before[member]?.valueOf() !== after[member]?.valueOf())
  const members = [...OF_EVERY_CHANGE, ...WITH_GENERATED.filter(differs), ...(OTHERS.some(differs) ? OTHERS : [])]
  return listOf(members, (member, column) => `${column} = row."${member}"`)
}
