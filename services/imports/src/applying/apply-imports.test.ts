import { aCaller } from '@backoffice/testing/caller.ts'
import { expect, it } from 'vitest'
import { importsService } from '../testing/imports-service.ts'

const { adminOf, applied, send } = await importsService('catalog')

it('applies a validated file, and publishes import.completed once (OP-50, OP-72)', async () => {
  const caller = aCaller()
  const rows = Array.from({ length: 1201 }, (_, n) => `SKU-${n},Mug ${n},${n}`)
  const { status, summary, import_id } = await applied(caller, 'products', ['sku,name,stock', ...rows].join('\n'))
  expect({ status, ...summary }).toEqual({
    status: 'COMPLETED',
    total_rows: 1201,
    valid_rows: 1201,
    invalid_rows: 0,
    created: 1201,
    updated: 0,
    failed: 0,
    errors: [],
    errors_truncated: false,
  })
  const { body } = await send<{ total: number }>(caller, 'GET', '/v1/products')
  expect(body.total).toBe(1201)
  const events = await adminOf('imports')`
    select payload from outbox where topic = 'imports.events' and key = ${import_id}`
  expect(events).toEqual([
    {
      payload: {
        id: import_id,
        template: 'products',
        status: 'COMPLETED',
        summary: { total_rows: 1201, valid_rows: 1201, invalid_rows: 0, created: 1201, updated: 0, failed: 0 },
      },
    },
  ])
})
