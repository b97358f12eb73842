import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { endOf, standstill, startChild } from './child.ts'
import { startManagedProcess } from './managed-process.ts'
import { processIdentity } from './process-identity.ts'

/** Runs a script as a process, which ends with the test. */
async function running(script: string) {
  const child = await startChild({ name: 'script', file: process.execPath, args: ['-e', script], output: () => {} })
  onTestFinished(() => child.kill())
  return child
}

test('a process that ends before it is ready is an error that tells what it said', async () => {
  const directory = mkdtempSync(join(tmpdir(), 'backoffice-broken-'))
  onTestFinished(() => rmSync(directory, { recursive: true }))
  const script = "console.log('no configuration'); process.exitCode = 3"
  const command = { name: 'broken', file: process.execPath, args: ['-e', script], output: join(directory, 'log') }

  await expect(startManagedProcess({ command, isReady: async () => false })).rejects.toThrow(
    'broken did not start (exit code 3): no configuration',
  )
})

test.each([
  ['does not answer', async () => false],
  ['accepts a request and never answers it', () => new Promise<boolean>(() => {})],
])('a process that stands still and %s is killed', async (_what, isReady) => {
  const pids: number[] = []
  const script = 'console.log(process.pid); setInterval(() => {}, 60_000)'
  const output = (line: string) => void pids.push(Number(line))
  const command = { name: 'stuck', file: process.execPath, args: ['-e', script], output }

  const whyNot = async () => 'not ready: http'
  await expect(startManagedProcess({ command, isReady, whyNot }, 5_000)).rejects.toThrow(
    /^stuck does not answer, it has done nothing for 5 s: \d+; S \w*; not ready: http$/,
  )
  expect(processIdentity(pids[0] ?? 0)).toBeUndefined()
})

test('a program that stands still does not hold up what waits for its end', async () => {
  const script = "console.log('fetching'); setInterval(() => {}, 60_000)"
  const program = { name: 'stuck', file: process.execPath, args: ['-e', script], output: () => {} }

  expect(await endOf(program, 5_000)).toEqual({ how: 'it has done nothing for 5 s', lastWords: 'fetching' })
})

test.each([
  ['prints', "setInterval(() => console.log('creating tables'), 50)"],
  ['computes', 'for (;;) {}'],
])('a process that %s is one that moves', async (_what, script) => {
  const child = await running(script)
  const before = child.activity()

  await expect.poll(() => child.activity()).not.toBe(before)
})

test('a start may take any time as long as something moves', () => {
  const stoodStill = standstill(3)

  expect([...'aaabccc'].map(stoodStill)).toEqual(Array(7).fill(false))
  expect(stoodStill('c')).toBe(true)
})
