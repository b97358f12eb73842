import { type ManagedProcess, startManagedProcess } from '@backoffice/testing/processes/managed-process.ts'
import { freePort, isListening } from '@backoffice/testing/processes/ports.ts'
import { expect, onTestFinished, test, vi } from 'vitest'
import { createSupervisor } from './supervisor.ts'

/** A supervised server on a port of its own. */
async function supervised() {
  const port = await freePort()
  const printed: string[] = []
  const supervisor = createSupervisor({ print: (line) => printed.push(line), onChange: () => {} })
  const managed: ManagedProcess = await startManagedProcess({
    command: {
      name: 'server',
      file: process.execPath,
      args: ['-e', `require('node:net').createServer().listen(${port}, '127.0.0.1')`],
      output: () => {},
    },
    isReady: () => isListening(port),
    onDeath: (how) => void supervisor.restart('server', how),
  })
  supervisor.add('server', managed)
  onTestFinished(() => supervisor.stop([['server']]))
  return { supervisor, managed, port, printed }
}

test('a process killed from outside is started again under the same address and a new id', async () => {
  const { supervisor, managed, port, printed } = await supervised()
  const before = managed.pid as number

  process.kill(before, 'SIGKILL')

  await expect.poll(() => printed.join()).toContain('server is back')
  expect(managed.pid).not.toBe(before)
  expect(supervisor.pids()).toEqual({ server: managed.pid })
  expect(await isListening(port)).toBe(true)
})

test('a process that ran for long is started again at once, and one that has just started after a second', async () => {
  vi.useFakeTimers({ toFake: ['performance'] })
  onTestFinished(() => void vi.useRealTimers())
  const { managed, printed } = await supervised()
  const said = async (how: string, times: number) =>
    expect.poll(() => printed.filter((line) => line.endsWith(how)).length).toBe(times)

  vi.advanceTimersByTime(10_001)
  process.kill(managed.pid as number, 'SIGKILL')
  await said('started again now', 1)
  await expect.poll(() => printed.join()).toContain('server is back')

  process.kill(managed.pid as number, 'SIGKILL')
  await said('started again in a second', 1)
})

test('a process that was stopped stays down', async () => {
  const { supervisor, managed, port, printed } = await supervised()

  await supervisor.stop([['server']])
  await supervisor.restart('server', 'exit code 0')

  expect(managed.pid).toBeUndefined()
  expect(await isListening(port)).toBe(false)
  expect(printed).toEqual([])
})
