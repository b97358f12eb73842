import { describe, expect, test } from 'vitest'
import { blockedAddress, failureOf, failureOfStatus, SendingError } from './failure.ts'

const withCode = (code: string) => Object.assign(new Error(`failed: ${code}`), { code })

describe('what broke an exchange off has a class', () => {
  test.each([
    [blockedAddress('10.0.0.1'), 'blocked'],
    [new SendingError('dns', 'example.com has no address'), 'dns'],
    [withCode('ECONNREFUSED'), 'refused'],
    [withCode('UND_ERR_CONNECT_TIMEOUT'), 'timeout'],
    [withCode('CERT_HAS_EXPIRED'), 'tls'],
    [withCode('DEPTH_ZERO_SELF_SIGNED_CERT'), 'tls'],
    [withCode('SELF_SIGNED_CERT_IN_CHAIN'), 'tls'],
    [withCode('UNABLE_TO_GET_ISSUER_CERT_LOCALLY'), 'tls'],
    [withCode('UNABLE_TO_VERIFY_LEAF_SIGNATURE'), 'tls'],
    [withCode('HOSTNAME_MISMATCH'), 'tls'],
    [withCode('ERR_SSL_WRONG_VERSION_NUMBER'), 'tls'],
    [withCode('ERR_TLS_CERT_ALTNAME_INVALID'), 'tls'],
    [withCode('UND_ERR_SOCKET'), 'connection'],
    [withCode('HPE_INVALID_CONSTANT'), 'connection'],
    [new Error('whatever'), 'connection'],
  ])('%s is %s', (error, expected) => {
    expect(failureOf(error).class).toBe(expected)
  })
})

describe('what broke an exchange off is said in words', () => {
  test.each([
    [withCode('UND_ERR_SOCKET'), 'the connection broke off: failed: UND_ERR_SOCKET'],
    [withCode('UND_ERR_HEADERS_OVERFLOW'), 'the headers of the response are longer than 16 KiB'],
    [new AggregateError([new Error('connect 1'), new Error('connect 2')]), 'connect 1, connect 2'],
    [Object.assign(new Error(''), { code: 'EPIPE' }), 'EPIPE'],
  ])('%s', (error, expected) => {
    expect(failureOf(error).message).toBe(expected)
  })

  test('in 500 characters at most', () => {
    expect(failureOf(new Error('x'.repeat(1000))).message).toHaveLength(500)
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
