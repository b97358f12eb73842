import { describe, expect, test } from 'vitest'
import { BlockedAddress, failureOf, failureOfStatus } from './failure.ts'

const withCode = (code: string) => Object.assign(new Error(`failed: ${code}`), { code })

describe('what broke an exchange off has a class', () => {
  test.each([
    [new BlockedAddress('10.0.0.1'), 'blocked'],
    [withCode('ENOTFOUND'), 'dns'],
    [withCode('EAI_AGAIN'), 'dns'],
    [withCode('ECONNREFUSED'), 'refused'],
    [withCode('UND_ERR_CONNECT_TIMEOUT'), 'timeout'],
    [withCode('CERT_HAS_EXPIRED'), 'tls'],
    [withCode('DEPTH_ZERO_SELF_SIGNED_CERT'), 'tls'],
    [withCode('UNABLE_TO_VERIFY_LEAF_SIGNATURE'), 'tls'],
    [withCode('ERR_TLS_CERT_ALTNAME_INVALID'), 'tls'],
    [withCode('UND_ERR_SOCKET'), 'connection'],
    [withCode('HPE_INVALID_CONSTANT'), 'connection'],
    [new Error('whatever'), 'connection'],
  ])('%s is %s', (error, expected) => {
    expect(failureOf(error).class).toBe(expected)
  })
})

test('a message is kept in a form PostgreSQL can keep', () => {
  expect(failureOf(new Error('a\0b\ud800')).message).toBe('ab\ufffd')
})

test.each([200, 201, 204, 299])('%i is delivered (spec: Retries 1)', (status) => {
  expect(failureOfStatus(status)).toBeUndefined()
})

test.each([
  [301, 'answered 301: redirects are not followed'],
  [304, 'answered 304: redirects are not followed'],
  [400, 'answered 400'],
  [500, 'answered 500'],
])('%i is a failure (spec: Retries 2)', (status, message) => {
  expect(failureOfStatus(status)).toEqual({ class: 'status', message })
})
