import { expect, test } from 'vitest'
import { readableLine } from './log-line.ts'

const time = '2026-01-02T10:04:05.678Z'

test('a request is one short line with the time, the service and its members', () => {
  const entry = {
    level: 'info',
    time,
    service: 'catalog',
    request_id: 'r',
    method: 'POST',
    status: 201,
    msg: 'request',
  }

  expect(readableLine('catalog', JSON.stringify(entry))).toBe(
    '10:04:05 catalog           request method=POST status=201',
  )
})

test('what is worse than information says how bad it is, and the error says why without its stack', () => {
  const entry = { level: 'error', time, msg: 'could not start', err: { message: 'no such host', stack: 'Error: …' } }

  expect(readableLine('gateway', JSON.stringify(entry))).toBe(
    '10:04:05 gateway           ERROR could not start err=no such host',
  )
})

test.each(['plain text', '{"cut short": '])('a line that is not JSON is shown as it is: %s', (line) => {
  expect(readableLine('catalog', line)).toContain(line)
})
