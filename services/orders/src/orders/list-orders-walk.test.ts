import { aCaller } from '@backoffice/testing/caller.ts'
import { describeWalks } from '@backoffice/testing/list-walk.ts'
import { orderLists } from './testing/order-lists.ts'

const COUNT = 40
const EVERY_S = 20 * 60
const { admin, list, merge, seed, send } = await orderLists()

describeWalks('orders', {
  send,
  async list() {
    const [caller, other] = [aCaller(), aCaller()]
    await seed(other, 1, EVERY_S)
    await seed(caller, COUNT, EVERY_S)
    await merge()
    let changes = 0
    return {
      caller,
      path: '/v1/orders',
      foreign: (await list(other)).items[0]?.id ?? '',
      insert: () => admin`
        with new as (
          insert into sales_order
          select (jsonb_populate_record(sales_order, jsonb_build_object(
            'id', uuidv7(), 'order_number', ${`New ${changes++}`}::text, 'updated_at', now()
          ))).* from sales_order where workspace_id = ${caller.workspaceId} and order_number = 'N3'
          returning workspace_id, id
        )
        insert into order_item
        select (jsonb_populate_record(order_item, jsonb_build_object('id', uuidv7(), 'order_id', new.id))).*
        from new join order_item using (workspace_id)
        where order_id = (select id from sales_order where workspace_id = ${caller.workspaceId} and order_number = 'N3')`,
      change: (id) => admin`update sales_order set updated_at = now(), note = 'Changed' where id = ${id}`,
    }
  },
  fixed: ['', 'sort_order=asc'],
  moving: ['sort_by=updatedAt', 'sort_by=updatedAt&sort_order=asc'],
  filters: [
    '',
    'status=COMPLETED',
    'sales_channel=web',
    'order_number=n7',
    'since=2026-02-01T12:30:00Z',
    'since=2026-02-01T12:30:00Z&until=2026-02-01T20:10:00Z',
    'updated_since=2026-02-02T12:30:00Z',
    'updated_since=2026-02-02T12:30:00Z&status=COMPLETED',
    'updated_since=2026-02-02T02:30:00Z&since=2026-02-01T12:30:00Z',
    'updated_since=2026-02-02T02:30:00Z&until=2026-02-01T20:10:00Z&status=COMPLETED',
  ],
})
