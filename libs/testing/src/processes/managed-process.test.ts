import { expect, onTestFinished, test } from 'vitest'
import { startChild } from './child.ts'
import { standstill, startManagedProcess } from './managed-process.ts'

/** Runs a script as a process, which ends with the test. */
async function running(script: string) {
  const child = await startChild({ name: 'script', file: process.execPath, args: ['-e', script], output: () => {} })
  onTestFinished(() => child.kill())
  return child
}

test('a process that ends before it is ready is an error that tells what it said', async () => {
  const launch = () => running('process.exit(3)')

  await expect(
    startManagedProcess({ name: 'broken', launch, isReady: async () => false, explain: () => 'no configuration' }),
  ).rejects.toThrow('broken did not start (exit code 3): no configuration')
})

test('a process that stands still before it is ready is killed', async () => {
  const child = await running('setInterval(() => {}, 60_000)')
  const definition = { name: 'stuck', launch: async () => child, isReady: async () => false, explain: () => 'waiting' }

  await expect(startManagedProcess(definition, 1_000)).rejects.toThrow(
    'stuck does not answer and has done nothing for 1 s: waiting',
  )
  expect(await child.exited).toBe('SIGKILL')
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
  const stoodStill = standstill(60_000)

  expect([stoodStill('a', 0), stoodStill('a', 59_999), stoodStill('b', 60_000), stoodStill('c', 119_999)]).toEqual(
    Array(4).fill(false),
  )
  expect([stoodStill('c', 179_998), stoodStill('c', 179_999)]).toEqual([false, true])
})
