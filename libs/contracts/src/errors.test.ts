import { openPoints } from '@backoffice/testing/open-points.ts'
import { expect, it } from 'vitest'
import { ApiError, conflict, ERROR_STATUS, type ErrorCode, errorBody } from './errors.ts'

it('has exactly the codes and statuses of OP-02', () => {
  const decided = [...(openPoints.get('OP-02') ?? '').matchAll(/`([a-z_]+)` (\d{3})/g)].map(([, code, status]) => [
    code,
    Number(status),
  ])
  expect(decided.length).toBeGreaterThan(10)
  expect(ERROR_STATUS).toEqual(Object.fromEntries(decided))
})

it('an error has the status of its code, and keeps its cause', () => {
  for (const [code, status] of Object.entries(ERROR_STATUS)) {
    expect(new ApiError(code as ErrorCode, 'x').status).toBe(status)
  }
  const cause = new Error('the database said so')
  expect(new ApiError('conflict', 'x', { cause }).cause).toBe(cause)
})

it('the message is the member’s path and the reason, and both are there to be read by themselves', () => {
  expect(conflict(['variants', 1, 'sku'], 'is taken')).toMatchObject({
    code: 'conflict',
    path: ['variants', 1, 'sku'],
    reason: 'is taken',
    message: 'variants[1].sku: is taken',
    headers: {},
  })
  expect(conflict([], 'Something was in the way').message).toBe('Something was in the way')
})

it('the error body has its three members and no other (spec: Errors)', () => {
  expect(errorBody('not_found', 'No such product', 'req-1')).toEqual({
    error: { code: 'not_found', message: 'No such product', request_id: 'req-1' },
  })
})
