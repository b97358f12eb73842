import { conflict, errorAnswer, errorBody, refusedMembers } from '@backoffice/contracts/errors.ts'
import { expect, it } from 'vitest'
import { refusalOf } from './catalog-refusal.ts'

it('what is refused line by line is refused item by item, whatever the reasons say', () => {
  const reason = 'only 1 of "A"; lines[9].quantity: none" left'
  const members = [1, 10].map((index) => ({ path: ['lines', index, 'quantity'], reason }))
  const { body } = errorAnswer(refusedMembers('conflict', members, 'short_stock'), 'request', { isInternal: true })
  expect(refusalOf({ statusCode: 409, body: JSON.parse(body), errorReason: 'short_stock' }, true)).toMatchObject({
    ...{ code: 'conflict', errorReason: 'short_stock', isDefinite: true },
    message: `items[1].quantity: ${reason}; items[10].quantity: ${reason}`,
  })
})

const internal = (refusal: ReturnType<typeof conflict>) =>
  JSON.parse(errorAnswer(refusal, 'request', { isInternal: true }).body)

it.each([
  ['the same of a catalog that names the member', 409, internal(conflict(['order'], 'lines[7] was released'))],
  ['what is said of all lines', 409, internal(conflict(['lines'], 'were taken by another request'))],
  [
    'a reservation that was released meanwhile',
    409,
    errorBody('conflict', 'order: reservation 7 was released; take …', ''),
  ],
  ['a wrong token', 401, errorBody('invalid_api_key', 'The request did not come through the gateway', '')],
  ['a mistake of orders', 400, errorBody('bad_request', 'ids[0]: must be a UUID', '')],
  ['an error of catalog', 500, errorBody('internal_error', 'Something went wrong', '')],
  ['a code that does not fit the status', 409, errorBody('unprocessable', 'lines[0].variant: no', '')],
  ['another shape', 409, ['lines[0]']],
  ['nothing', 404, undefined],
])('%s is service_unavailable, with what catalog said for the log', (_, status, body) => {
  const refusal = refusalOf({ statusCode: status, body, errorReason: undefined }, true)
  expect(refusal).toMatchObject({ code: 'service_unavailable', isDefinite: false, headers: { 'retry-after': '1' } })
  expect(String(refusal.cause)).toContain(`catalog answered ${status}`)
})
