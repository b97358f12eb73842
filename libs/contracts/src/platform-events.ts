import { z } from 'zod'
import { Id, MoneyMap, Timestamp } from './fields.ts'

/*
 * What the platform's other parts tell of their resources (OP-69): the members that the specification lists, in its order and
 * closed. Where it does not list them all, the object is open and asks for no more than it names (OP-57).
 */

/** Data of a resource that is gone: its id, with or without the rest (OP-57). */
const deletionOf = <Shape extends z.ZodRawShape & { id: z.ZodType }>(resource: z.ZodObject<Shape>) =>
  z.strictObject({ ...resource.partial().shape, id: Id })

/** A bundle with all its members; a `price` of null charges their plain sum, a `product_variant` is a pinned one. */
export const Bundle = z.looseObject({
  id: Id,
  members: z.array(z.looseObject({ product_variant: Id.nullish(), price: MoneyMap.nullable() })),
})

/** A material or supply. `available_stock` is counted in `unit_of_measure`, of which there may be fractions. */
export const Component = z.strictObject({
  id: Id,
  name: z.string(),
  category: z.string().nullable(),
  status: z.string(),
  unit_of_measure: z.string().nullable(),
  track_stock: z.boolean(),
  available_stock: z.number().nullable(),
})
export const DeletedComponent = deletionOf(Component)

export const Supplier = z.strictObject({
  id: Id,
  name: z.string(),
  email: z.string().nullable(),
  telephone: z.string().nullable(),
  roles: z.array(z.string()),
})
export const DeletedSupplier = deletionOf(Supplier)

/** An expense, whose members are not shown. */
export const Expense = z.looseObject({ id: Id })

export const PaymentMilestoneTemplate = z.strictObject({
  id: Id,
  name: z.string(),
  splits: z.array(z.strictObject({ label: z.string(), pct: z.number() })),
  is_default: z.boolean(),
})
export const DeletedPaymentMilestoneTemplate = deletionOf(PaymentMilestoneTemplate)

/** A closed stock count and what it changed, in members that are not shown. */
export const StockCount = z.looseObject({ id: Id })

const Pool = z.strictObject({ id: Id, code: z.string() })

/** Stock that was moved from one pool to another. */
export const StockPoolAdjustment = z.strictObject({
  id: Id,
  from_pool: Pool,
  to_pool: Pool,
  lines: z.array(
    z.strictObject({ variant_id: Id, sku: z.string().nullable(), label: z.string().nullable(), qty: z.int() }),
  ),
  note: z.string().nullable(),
  moved_at: Timestamp,
})

/** A task of the assistant. `amount_minor` is in minor units of `currency`. */
export const AssistantTask = z.strictObject({
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
