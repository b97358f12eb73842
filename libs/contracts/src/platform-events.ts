import { z } from 'zod'
import { Id, MoneyMap, Timestamp } from './fields.ts'
import { named, namedObject } from './named.ts'

/*
 * Resources in events of the platform's other parts (OP-69). An object has the members that the specification lists, in
 * its order, and is closed. Where the specification does not list all members, the object is open and requires only the
 * listed ones (OP-57).
 */

/** Data of a deleted resource: its id, and any of its other members (OP-57). */
const deletionOf = <Shape extends z.ZodRawShape & { id: z.ZodType }>(resource: z.ZodObject<Shape>) =>
  z.strictObject({ ...resource.partial().shape, id: Id })

/** A bundle with all its members. A null `price` charges the plain sum; `product_variant` is a pinned variant. */
export const Bundle = named(
  'Bundle',
  z.looseObject({
    id: Id,
    members: z.array(
      named('BundleMember', z.looseObject({ product_variant: Id.nullish(), price: MoneyMap.nullable() })),
    ),
  }),
)

/** A material or supply. `available_stock` is in `unit_of_measure` and may be a fraction. */
export const Component = namedObject('Component', {
  id: Id,
  name: z.string(),
  category: z.string().nullable(),
  status: z.string(),
  unit_of_measure: z.string().nullable(),
  track_stock: z.boolean(),
  available_stock: z.number().nullable(),
})
export const DeletedComponent = named('DeletedComponent', deletionOf(Component))

export const Supplier = namedObject('Supplier', {
  id: Id,
  name: z.string(),
  email: z.string().nullable(),
  telephone: z.string().nullable(),
  roles: z.array(z.string()),
})
export const DeletedSupplier = named('DeletedSupplier', deletionOf(Supplier))

/** An expense. The specification does not show its members. */
export const Expense = named('Expense', z.looseObject({ id: Id }))

export const PaymentMilestoneTemplate = namedObject('PaymentMilestoneTemplate', {
  id: Id,
  name: z.string(),
  splits: z.array(namedObject('PaymentMilestone', { label: z.string(), pct: z.number() })),
  is_default: z.boolean(),
})
export const DeletedPaymentMilestoneTemplate = named(
  'DeletedPaymentMilestoneTemplate',
  deletionOf(PaymentMilestoneTemplate),
)

/** A closed stock count with its changes. The specification does not show its members. */
export const StockCount = named('StockCount', z.looseObject({ id: Id }))

const Pool = namedObject('StockPool', { id: Id, code: z.string() })

/** Stock that was moved from one pool to another. */
export const StockPoolAdjustment = namedObject('StockPoolAdjustment', {
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
})

/** A task of the assistant. `amount_minor` is in minor units of `currency`. */
export const AssistantTask = namedObject('AssistantTask', {
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
})
