import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type Child, startChild } from '@backoffice/testing/processes/child.ts'
import { processIdentity } from '@backoffice/testing/processes/process-identity.ts'
import { expect, onTestFinished, test } from 'vitest'
import { lockStack } from './stack-lock.ts'

function folder(): string {
  const directory = mkdtempSync(join(tmpdir(), 'backoffice-lock-'))
  onTestFinished(() => rmSync(directory, { recursive: true }))
  return directory
}

/** A process that runs until it is told to stop, or, when it does not listen, until it is killed. */
async function sleeper({ listens = true } = {}): Promise<Child> {
  const trap = listens ? '' : "trap '' TERM;"
  const child = await startChild({
    name: 'sleeper',
    file: 'sh',
    args: ['-c', `${trap} sleep 60 & wait`],
    output: () => {},
  })
  onTestFinished(() => child.kill())
  return child
}

/** Leaves the file that a stack which was killed leaves. */
function leave(directory: string, stackPid: number, child: { pid: number; identity?: string }): void {
  const record = (name: string, pid: number) => ({ name, pid, identity: processIdentity(pid)?.slice(0, 200) ?? 'gone' })
  const recorded = { stack: record('stack', stackPid), children: [{ ...record('catalog', child.pid), ...child }] }
  writeFileSync(join(directory, 'running.json'), JSON.stringify(recorded))
}

const deadPid = async (): Promise<number> => {
  const child = await sleeper()
  await child.kill()
  return child.pid
}

test('a second stack on the same folder is refused and says which process has it', async () => {
  const directory = folder()
  const other = await sleeper()
  leave(directory, other.pid, { pid: other.pid })

  await expect(lockStack(directory, () => {})).rejects.toThrow(`process ${other.pid}`)
})

test('a folder is free again once its stack has released it', async () => {
  const directory = folder()
  const first = await lockStack(directory, () => {})
  await expect(lockStack(directory, () => {})).rejects.toThrow('already runs')

  first.release()

  await lockStack(directory, () => {})
})

test('what a killed stack left running is ended, by force when it takes too long', async () => {
  const directory = folder()
  const child = await sleeper({ listens: false })
  leave(directory, await deadPid(), { pid: child.pid })
  const told: string[] = []

  await lockStack(directory, (text) => told.push(text), 200)

  await expect(child.exited).resolves.toBe('SIGKILL')
  expect(told.join()).toContain(`catalog (process ${child.pid})`)
})

test('a process that merely has the id of a former one is left alone', async () => {
  const directory = folder()
  const stranger = await sleeper()
  leave(directory, await deadPid(), { pid: stranger.pid, identity: 'another start and command' })

  await lockStack(directory, () => {})

  expect(processIdentity(stranger.pid)).toBeDefined()
})

test('the processes of a stack are on record', async () => {
  const directory = folder()
  const child = await sleeper()

  const lock = await lockStack(directory, () => {})
  lock.record({ catalog: child.pid })

  const { children } = JSON.parse(readFileSync(join(directory, 'running.json'), 'utf8'))
  expect(children).toMatchObject([{ name: 'catalog', pid: child.pid }])
})
