import { z } from 'zod'
import { Id, MoneyMap, Timestamp } from './fields.ts'
import { exampleOf, named, namedObject } from './named.ts'

/*
 * Resources in events of the platform's other parts (OP-69). An object has the members that the specification lists, in
 * its order, and is closed. Where the specification does not list all members, the object is open and requires only the
 * listed ones (OP-57).
 */

/** Data of a deleted resource: its id, and any of its other members (OP-57). */
const deletionOf = (resource: z.ZodObject) => z.strictObject({ ...resource.partial().shape, id: Id })

/** A bundle with all its members. A null `price` charges the plain sum; `product_variant` is a pinned variant. */
export const Bundle = named(
  'Bundle',
  z.looseObject({
    id: Id,
    members: z.array(
      named('BundleMember', z.looseObject({ product_variant: Id.nullish(), price: MoneyMap.nullable() })),
    ),
  }),
  {
    id: '0198c7a0-0000-7000-8000-000000000070',
    members: [
      { product_variant: null, price: { EUR: 4000 } },
      { product_variant: '0198c7a0-0000-7000-8000-000000000003', price: null },
    ],
  },
)

/** A material or supply. `available_stock` is in `unit_of_measure` and may be a fraction. */
export const Component = namedObject(
  'Component',
  {
    id: Id,
    name: z.string(),
    category: z.string().nullable(),
    status: z.string(),
    unit_of_measure: z.string().nullable(),
    track_stock: z.boolean(),
    available_stock: z.number().nullable(),
  },
  {
    id: '0198c7a0-0000-7000-8000-000000000071',
    name: 'Linen',
    category: 'Fabric',
    status: 'ACTIVE',
    unit_of_measure: 'm',
    track_stock: true,
    available_stock: 120.5,
  },
)
export const DeletedComponent = named('DeletedComponent', deletionOf(Component), exampleOf(Component))

export const Supplier = namedObject(
  'Supplier',
  {
    id: Id,
    name: z.string(),
    email: z.string().nullable(),
    telephone: z.string().nullable(),
    roles: z.array(z.string()),
  },
  {
    id: '0198c7a0-0000-7000-8000-000000000072',
    name: 'Weavers Ltd',
    email: 'sales@weavers.example',
    telephone: null,
    roles: ['FABRIC'],
  },
)
export const DeletedSupplier = named('DeletedSupplier', deletionOf(Supplier), exampleOf(Supplier))

/** An expense. The specification does not show its members. */
export const Expense = named('Expense', z.looseObject({ id: Id }), { id: '0198c7a0-0000-7000-8000-000000000073' })

export const PaymentMilestoneTemplate = namedObject(
  'PaymentMilestoneTemplate',
  {
    id: Id,
    name: z.string(),
    splits: z.array(namedObject('PaymentMilestone', { label: z.string(), pct: z.number() })),
    is_default: z.boolean(),
  },
  {
    id: '0198c7a0-0000-7000-8000-000000000074',
    name: 'Half now',
    splits: [
      { label: 'Deposit', pct: 50 },
      { label: 'Balance', pct: 50 },
    ],
    is_default: true,
  },
)
export const DeletedPaymentMilestoneTemplate = named(
  'DeletedPaymentMilestoneTemplate',
  deletionOf(PaymentMilestoneTemplate),
  exampleOf(PaymentMilestoneTemplate),
)

/** A closed stock count with its changes. The specification does not show its members. */
export const StockCount = named('StockCount', z.looseObject({ id: Id }), { id: '0198c7a0-0000-7000-8000-000000000075' })

const Pool = namedObject('StockPool', { id: Id, code: z.string() })

/** Stock that was moved from one pool to another. */
export const StockPoolAdjustment = namedObject(
  'StockPoolAdjustment',
  {
    id: Id,
    from_pool: Pool,
    to_pool: Pool,
    lines: z.array(
      namedObject('StockPoolLine', {
        variant_id: Id,
        sku: z.string().nullable(),
        label: z.string().nullable(),
        qty: z.int(),
      }),
    ),
    note: z.string().nullable(),
    moved_at: Timestamp,
  },
  {
    id: '0198c7a0-0000-7000-8000-000000000076',
    from_pool: { id: '0198c7a0-0000-7000-8000-000000000077', code: 'SHOP' },
    to_pool: { id: '0198c7a0-0000-7000-8000-000000000078', code: 'WEB' },
    lines: [{ variant_id: '0198c7a0-0000-7000-8000-000000000003', sku: 'SHIRT-M', label: 'Linen shirt, M', qty: 3 }],
    note: null,
    moved_at: '2026-03-01T12:00:00.000Z',
  },
)

/** A task of the assistant. `amount_minor` is in minor units of `currency`. */
export const AssistantTask = namedObject(
  'AssistantTask',
  {
    id: Id,
    source: z.string(),
    type: z.string(),
    category: z.string().nullable(),
    status: z.string(),
    title: z.string(),
    value_line: z.string().nullable(),
    count_total: z.int().nullable(),
    count_remaining: z.int().nullable(),
    amount_minor: z.int().nullable(),
    currency: z.string().nullable(),
    proposal_status: z.string().nullable(),
    assignee: z.string().nullable(),
    snoozed_until: Timestamp.nullable(),
    resolved_by: z.string().nullable(),
    resolved_at: Timestamp.nullable(),
  },
  {
    id: '0198c7a0-0000-7000-8000-000000000079',
    source: 'assistant',
    type: 'reorder',
    category: 'stock',
    status: 'OPEN',
    title: 'Reorder linen',
    value_line: null,
    count_total: 4,
    count_remaining: 3,
    amount_minor: 120000,
    currency: 'EUR',
    proposal_status: 'PENDING',
    assignee: null,
    snoozed_until: null,
    resolved_by: null,
    resolved_at: null,
  },
)
