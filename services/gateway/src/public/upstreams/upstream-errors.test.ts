import { expect, test } from 'vitest'
import { pausesBefore } from './upstream-errors.ts'

test.each<[string, string, number[]]>([
  ['ECONNREFUSED', 'POST', [50, 200]],
  ['EHOSTUNREACH', 'POST', [50, 200]],
  ['ENETUNREACH', 'PUT', [50, 200]],
  ['EAI_AGAIN', 'DELETE', [50, 200]],
  ['ENOTFOUND', 'POST', [50, 200]],
  ['UND_ERR_CONNECT_TIMEOUT', 'POST', [50]],
  ['ECONNRESET', 'GET', [50, 200]],
  ['ECONNRESET', 'POST', []],
  ['UND_ERR_HEADERS_TIMEOUT', 'GET', []],
])('after %s a %s is sent again after %j ms', (code, method, pauses) => {
  expect(pausesBefore(Object.assign(new Error(), { code }), method)).toEqual(pauses)
})
