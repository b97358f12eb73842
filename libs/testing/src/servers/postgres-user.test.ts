import { chmodSync, mkdirSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { canReach } from './postgres-user.ts'

const stranger = { uid: 65_533, gid: 65_533 }

test('a user reaches what lies in folders open to everybody, also where they are yet to be made', () => {
  const directory = mkdtempSync(join(tmpdir(), 'backoffice-reach-'))
  onTestFinished(() => rmSync(directory, { recursive: true }))
  chmodSync(directory, 0o755)

  expect(canReach(join(directory, 'a', 'b'), stranger)).toBe(true)
})

test('a user does not reach what lies below a private folder', () => {
  const directory = mkdtempSync(join(tmpdir(), 'backoffice-reach-'))
  onTestFinished(() => rmSync(directory, { recursive: true }))
  mkdirSync(join(directory, 'open'), { mode: 0o755 })
  chmodSync(directory, 0o700)

  expect(canReach(join(directory, 'open', 'data'), stranger)).toBe(false)
})
