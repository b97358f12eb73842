import { expect, test } from 'vitest'
import { type SigningKey, signatureOf } from './signature.ts'

const now = new Date('2026-03-01T12:00:00Z')
const later = new Date(now.getTime() + 1)
const parts = { id: 'msg_p5jXN8AQM9LWM0D4loKWxJek', timestamp: 1_614_265_330, body: '{"test": 2432232314}' }
const current = { key: Buffer.from('MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw', 'base64'), endsAt: null }
const previous = (endsAt: Date) => ({ key: Buffer.alloc(32, 1), endsAt })
const oldest = (endsAt: Date) => ({ key: Buffer.alloc(32, 2), endsAt })
const signed = (keys: SigningKey[], isStandardToo = false) => signatureOf({ keys, isStandardToo }, parts, now)

// The first of each is the published vector of Standard Webhooks; the others were computed with OpenSSL.
const HEX = [
  'v1,83484cf52b04f8e4cf2531adfed9882ad4b2665137b852442d594d20e2c9d4e1',
  'v1,77c6ac97e92233cac662fe5ff7a096681ec396d4f5d91f8695c2a4fed01e29af',
  'v1,e447f31530a9692a01b14a539a996b1ac715410ca8386525f854770148b964bd',
]
const BASE64 = ['v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=', 'v1,d8asl+kiM8rGYv5f96CWaB7DltT12R+GlcKk/tAeKa8=']

test('the signature is the published Standard Webhooks vector in hex (spec: Delivery headers)', () => {
  expect(signed([current])).toBe(HEX[0])
})

test('an endpoint that asked for it gets the published vector in base64 as well (OP-62)', () => {
  expect(signed([current], true)).toBe(`${HEX[0]} ${BASE64[0]}`)
})

test('during an overlap every secret signs, newest first (OP-63)', () => {
  expect(signed([current, previous(later), oldest(later)])).toBe(HEX.join(' '))
})

test('the base64 entries follow the hex ones, in the same order (OP-98)', () => {
  expect(signed([current, previous(later)], true)).toBe([HEX[0], HEX[1], ...BASE64].join(' '))
})

test('a secret signs no more from the moment its overlap ends', () => {
  expect(signed([current, previous(now)])).toBe(HEX[0])
})

test('bytes and text of the same body have the same signature', () => {
  const ofBytes = signatureOf(
    { keys: [current], isStandardToo: false },
    { ...parts, body: Buffer.from(parts.body) },
    now,
  )
  expect(ofBytes).toBe(HEX[0])
})
