import { randomUUID } from 'node:crypto'

const at = '2026-03-01T10:00:00Z'
const id = () => randomUUID()
const pool = (code: string) => ({ id: id(), code })

const component = () => ({
  id: id(),
  name: 'Aso-oke',
  category: 'Cloth',
  status: 'ACTIVE',
  unit_of_measure: 'm',
  track_stock: true,
  available_stock: 12.5,
})
const supplier = () => ({ id: id(), name: 'Weaver', email: null, telephone: '+234 1', roles: ['cloth'] })
const expense = () => ({ id: id(), amount: { NGN: 450_000 }, paid_at: at })
const template = () => ({
  id: id(),
  name: 'Halves',
  splits: [
    { label: 'Deposit', pct: 50 },
    { label: 'Balance', pct: 50 },
  ],
  is_default: true,
})
const task = () => ({
  id: id(),
  source: 'assistant',
  type: 'restock',
  category: 'stock',
  status: 'OPEN',
  title: 'Order more cloth',
  value_line: null,
  count_total: 3,
  count_remaining: 1,
  amount_minor: 450_000,
  currency: 'NGN',
  proposal_status: null,
  assignee: null,
  snoozed_until: null,
  resolved_by: null,
  resolved_at: null,
})

/** Data of each event that the platform's other parts publish, as the specification lists it (OP-57, OP-69). */
export const PLATFORM_DATA: Readonly<Record<string, object>> = {
  'bundle.updated': {
    id: id(),
    members: [
      { product_variant: null, price: { NGN: 400_000, USD: 300 } },
      { product_variant: id(), price: null },
    ],
  },
  'component.created': component(),
  'component.updated': { ...component(), category: null, available_stock: 0 },
  'component.deleted': { id: id() },
  'supplier.created': supplier(),
  'supplier.updated': supplier(),
  'supplier.deleted': supplier(),
  'expense.created': expense(),
  'expense.updated': expense(),
  'expense.deleted': { id: id() },
  'payment_milestone_template.created': template(),
  'payment_milestone_template.updated': template(),
  'payment_milestone_template.deleted': { id: id() },
  'stock_count.closed': { id: id(), lines: [{ sku: 'CAP-M', counted: 11, expected: 12 }] },
  'stock_pool.adjusted': {
    id: id(),
    from_pool: pool('SHOP'),
    to_pool: pool('WEB'),
    lines: [{ variant_id: id(), sku: 'CAP-M', label: 'Cap, M', qty: 2 }],
    note: null,
    moved_at: at,
  },
  'assistant_task.created': task(),
  'assistant_task.updated': { ...task(), status: 'DONE', resolved_by: 'ada', resolved_at: at },
}
