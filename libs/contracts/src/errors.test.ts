import { openPoints } from '@backoffice/testing/open-points.ts'
import { expect, it } from 'vitest'
import {
  ApiError,
  conflict,
  ERROR_STATUS,
  type ErrorCode,
  errorAnswer,
  errorBody,
  errorReasonIn,
  refusedMembers,
} from './errors.ts'

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

it('an answer has the members of a refusal, each by itself, for other services alone', () => {
  const members = [2, 3].map((index) => ({ path: ['lines', index], reason: 'is "gone"; lines[9]: no' }))
  const bodyOf = (refusal: ApiError, isInternal?: boolean) =>
    JSON.parse(errorAnswer(refusal, 'req-1', isInternal === undefined ? {} : { isInternal }).body).error
  const several = refusedMembers('conflict', members, 'short_stock')
  expect(several).toMatchObject({ code: 'conflict', errorReason: 'short_stock' })
  const message = 'lines[2]: is "gone"; lines[9]: no; lines[3]: is "gone"; lines[9]: no'
  expect(bodyOf(several, true)).toEqual({ code: 'conflict', message, request_id: 'req-1', members })
  expect(bodyOf(conflict(['sku'], 'is taken'), true)).toMatchObject({
    members: [{ path: ['sku'], reason: 'is taken' }],
  })
  expect(bodyOf(conflict([], 'no'), true)).not.toHaveProperty('members')
  expect(bodyOf(several)).toEqual({ code: 'conflict', message, request_id: 'req-1' })
})

it('a refusal names its reason, or the usual one of its code, and leads to what to do (OP-265)', () => {
  const headersOf = (refusal: ApiError) => errorAnswer(refusal, 'req-1').headers
  expect(headersOf(conflict(['sku'], 'is taken', 'sku_taken'))).toMatchObject({
    'error-reason': 'sku_taken',
    link: '</docs/guides/errors#sku_taken-409>; rel="help"',
    'x-request-id': 'req-1',
  })
  expect(headersOf(conflict([], 'no'))).toMatchObject({ 'error-reason': 'state_forbids' })
  expect(headersOf(new ApiError('rate_limited', 'no', { headers: { 'retry-after': '1' } }))).toMatchObject({
    'error-reason': 'too_many_requests',
    'retry-after': '1',
  })
})

it('a refusal that passes says after how many seconds to try again: one unless told otherwise (OP-02)', () => {
  const retryAfter = (code: ErrorCode, headers = {}) => new ApiError(code, 'no', { headers }).headers['retry-after']
  for (const code of Object.keys(ERROR_STATUS) as ErrorCode[]) {
    expect(retryAfter(code)).toBe(['rate_limited', 'service_unavailable'].includes(code) ? '1' : undefined)
  }
  expect(retryAfter('rate_limited', { 'retry-after': '7' })).toBe('7')
})

it('takes over the reason of another service where it is one of its code', () => {
  expect(errorReasonIn('conflict', 'short_stock')).toBe('short_stock')
  for (const header of ['locked', 'a_new_one', undefined, ['short_stock']]) {
    expect(errorReasonIn('conflict', header)).toBeUndefined()
  }
})
