import { expect, test } from 'vitest'
import { plainTarget } from './request-target.ts'

test.each([
  ['/v1/products?page=2', '/v1/products?page=2'],
  ['/%61dmin/v1/%7Eme/%41%2d%5F%2E', '/admin/v1/~me/A-_.'],
  ['/%2561dmin', '/%2561dmin'],
  ['/v1%2Fproducts/%20/%zz/%e2%82%ac/%40%5b%60%7b', '/v1%2Fproducts/%20/%zz/%e2%82%ac/%40%5b%60%7b'],
  ['/v1?a=%61&b=http://host/%61', '/v1?a=%61&b=http://host/%61'],
  ['/v1#there', '/v1'],
  ['/v1?a#there', '/v1?a'],
  ['http://host/admin/v1/keys?page=2', '/admin/v1/keys?page=2'],
  ['HTTPS://user@host:8080/%61dmin', '/admin'],
  ['http://host', '/'],
  ['http://host?a=1', '/?a=1'],
  ['//host/admin', '//host/admin'],
  ['*', '*'],
])('%s is read as %s', (target, plain) => {
  expect(plainTarget(target)).toBe(plain)
})

test('every character that is unreserved, and no other, is decoded', () => {
  const all = Array.from({ length: 128 }, (_, code) => String.fromCharCode(code))
  const encoded = (text: string) => `%${text.charCodeAt(0).toString(16).padStart(2, '0')}`
  const decoded = all.filter((text) => plainTarget(`/${encoded(text)}`) === `/${text}`)
  expect(decoded.join('')).toBe('-.0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ_abcdefghijklmnopqrstuvwxyz~')
})
