import { readFileSync } from 'node:fs'
import { expect, it } from 'vitest'
import { z } from 'zod'
import { RECORDS, TOPICS } from './events.ts'

const SPECIFICATION = readFileSync(new URL('../../../docs/api-specification.md', import.meta.url), 'utf8')
const records: Record<string, z.ZodType> = RECORDS[TOPICS.platformEvents]
const id = '0198C7A0-0000-7000-8000-00000000000A'
const at = '2026-03-01T10:00:00Z'

const task = {
  id,
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
}
const component = {
  id,
  name: 'Aso-oke',
  category: 'Cloth',
  status: 'ACTIVE',
  unit_of_measure: 'm',
  track_stock: true,
  available_stock: 12.5,
}
const supplier = { id, name: 'Weaver', email: null, telephone: '+234 1', roles: ['cloth'] }
const template = { id, name: 'Halves', splits: [{ label: 'Deposit', pct: 50 }], is_default: true }
const adjustment = {
  id,
  from_pool: { id, code: 'SHOP' },
  to_pool: { id, code: 'WEB' },
  lines: [{ variant_id: id, sku: 'CAP-M', label: 'Cap, M', qty: 2 }],
  note: null,
  moved_at: at,
}
const member = { product_variant: null, price: { NGN: 450_000 } }

const problemsOf = (type: string, data: unknown) => {
  const record = { id, type, workspace_id: id, livemode: true, occurred_at: at, data }
  const issues = records[type]?.safeParse(record).error?.issues ?? []
  return issues.map(({ path }) => z.core.toDotPath(path))
}

it.each<[string, object]>([
  ['bundle.updated', { id, members: [member, { price: null }] }],
  ['bundle.updated', { id, name: 'Set', members: [{ ...member, product: id, product_variant: id, quantity: 2 }] }],
  ['component.created', component],
  ['component.updated', { ...component, category: null, available_stock: null }],
  ['component.deleted', component],
  ['component.deleted', { id }],
  ['supplier.updated', supplier],
  ['supplier.deleted', { id }],
  ['expense.created', { id, amount: 450_000, lines: [{ label: 'Rent' }] }],
  ['expense.deleted', { id }],
  ['expense.deleted', { id, amount: 450_000, lines: [{ label: 'Rent' }] }],
  ['payment_milestone_template.created', template],
  ['payment_milestone_template.deleted', { id }],
  ['stock_count.closed', { id, lines: [{ sku: 'CAP-M', counted: 7 }] }],
  ['stock_pool.adjusted', adjustment],
  ['assistant_task.updated', task],
])('%s takes %j', (type, data) => {
  expect(problemsOf(type, data)).toEqual([])
})

it.each<[string, object, string]>([
  ['bundle.updated', { id }, 'data.members'],
  ['bundle.updated', { id, members: [member, {}] }, 'data.members[1].price'],
  ['bundle.updated', { id, members: [{ ...member, price: { NGN: 0.5 } }] }, 'data.members[0].price.NGN'],
  ['bundle.updated', { id, members: [{ ...member, product_variant: 'M' }] }, 'data.members[0].product_variant'],
  ['component.created', { id }, 'data.name'],
  ['component.created', { ...component, cost: { NGN: 1 } }, 'data'],
  ['component.deleted', { id, colour: 'red' }, 'data'],
  ['component.deleted', { name: 'Aso-oke' }, 'data.id'],
  ['supplier.created', { ...supplier, roles: 'cloth' }, 'data.roles'],
  ['expense.updated', { amount: 1 }, 'data.id'],
  ['payment_milestone_template.updated', { ...template, splits: [{ label: 'All' }] }, 'data.splits[0].pct'],
  ['stock_count.closed', { id: 'count' }, 'data.id'],
  ['stock_pool.adjusted', { ...adjustment, to_pool: { id } }, 'data.to_pool.code'],
  ['stock_pool.adjusted', { ...adjustment, moved_at: 'today' }, 'data.moved_at'],
  ['assistant_task.created', { ...task, amount_minor: 0.5 }, 'data.amount_minor'],
])('%s refuses %j', (type, data, path) => {
  expect(problemsOf(type, data)[0]).toBe(path)
})

/** The members a row of the specification lists: `…id, name, splits (array of …), is_default`. */
function listed(family: string): string[] {
  const row = SPECIFICATION.split('\n').find((line) => line.startsWith(`| ${family}`)) ?? ''
  const [list = ''] = row
    .replace(/^.*data (carries )?\{?/, '')
    .replaceAll(/\([^)]*\)/g, '')
    .split(/[};|]/)
  return list.split(',').map((name) => name.trim())
}

it.each([
  ['component.*', 'component.created'],
  ['supplier events', 'supplier.created'],
  ['payment milestone template events', 'payment_milestone_template.created'],
  ['stock_pool.adjusted', 'stock_pool.adjusted'],
  ['assistant task events', 'assistant_task.created'],
])('the members of %s are those the specification lists, in its order', (family, type) => {
  const { properties } = z.toJSONSchema(records[type] ?? z.never(), { io: 'input', metadata: z.registry() })
  const data = properties?.data as { properties: object; required: string[] }
  expect(Object.keys(data.properties)).toEqual(listed(family))
  expect(data.required).toEqual(listed(family))
})
