import { mkdtempSync, rmSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, expect, it } from 'vitest'
import { UniqueKeys } from './unique-keys.ts'

const folder = mkdtempSync(join(tmpdir(), 'keys-'))
const keys = new UniqueKeys(folder)
afterAll(() => {
  keys.close()
  rmSync(folder, { recursive: true })
})

it('names the first row that has a key, and keeps it', () => {
  expect([keys.find('a'), keys.add('a', 2), keys.add('a', 3), keys.find('a')]).toEqual([undefined, undefined, 2, 2])
})

it('tells keys apart by every character', () => {
  for (const [row, key] of ['k', 'K', ' k', 'é', 'e\u0301', '', '😀'].entries())
    expect(keys.add(key, row)).toBeUndefined()
})

it('keeps many keys on the disk', () => {
  const key = (n: number) => `${n} ${'x'.repeat(200)}`
  for (let n = 0; n < 60_000; n++) keys.add(key(n), n)
  expect([keys.add(key(59_999), 0), keys.add(key(0), 1)]).toEqual([59_999, 0])
  expect(statSync(join(folder, 'keys')).size).toBeGreaterThan(0)
})
