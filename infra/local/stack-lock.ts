import { mkdirSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { processIdentity } from '@backoffice/testing/processes/process-identity.ts'
import { StackError } from '@backoffice/testing/processes/stack-error.ts'
import { readJson, replaceJson } from './json-file.ts'

interface RecordedProcess {
  readonly name: string
  readonly pid: number
  /** See processIdentity. */
  readonly identity: string
}

interface Recorded {
  readonly stack: RecordedProcess
  readonly children: readonly RecordedProcess[]
}

// A little more than the 10 s after which the guard kills the children of a killed stack.
const LEFTOVERS_END_WITHIN_MS = 12_000

/**
 * Locks a folder for this process. Waits for the processes that a killed stack left behind, kills them after 12 s, and
 * calls `onWait` with their names before. Throws StackError while another stack runs on the folder.
 */
export async function lockStack(
  directory: string,
  onWait: (text: string) => void,
  leftoversEndWithinMs = LEFTOVERS_END_WITHIN_MS,
) {
  mkdirSync(directory, { recursive: true })
  const file = join(directory, 'running.json')
  const earlier = readJson<Recorded>(file)
  if (earlier && isAlive(earlier.stack)) {
    const { pid } = earlier.stack
    throw new StackError(
      `a stack already runs on ${directory} (process ${pid}): see ${join(directory, 'stack.json')} for its address, ` +
        `stop it with kill ${pid}, or start another with STACK_DIR=<folder> PORT=0`,
    )
  }
  const leftovers = earlier?.children.filter(isAlive) ?? []
  if (leftovers.length > 0) {
    onWait(`the last stack was killed; waiting for what it left behind: ${namesOf(leftovers)}`)
    await endLeftovers(leftovers, leftoversEndWithinMs)
  }
  const stack = recorded('stack', process.pid)
  /** Records the running processes: after kill -9 of the stack the next start ends them. */
  const record = (pids: Readonly<Record<string, number>>) => {
    const children = Object.entries(pids).map(([name, pid]) => recorded(name, pid))
    replaceJson(file, { stack, children } satisfies Recorded)
  }
  record({})
  return { record, release: () => rmSync(file, { force: true }) }
}

async function endLeftovers(leftovers: readonly RecordedProcess[], withinMs: number): Promise<void> {
  const deadline = performance.now() + withinMs
  while (leftovers.some(isAlive)) {
    await delay(100)
    if (performance.now() > deadline) for (const { pid } of leftovers.filter(isAlive)) process.kill(pid, 'SIGKILL')
  }
}

const namesOf = (processes: readonly RecordedProcess[]) =>
  processes.map(({ name, pid }) => `${name} (process ${pid})`).join(', ')

const recorded = (name: string, pid: number): RecordedProcess => ({ name, pid, identity: identify(pid) })

const isAlive = ({ pid, identity }: RecordedProcess) => identity !== '' && identify(pid) === identity

/** The first 200 characters of the identity: a class path makes a command line long. */
const identify = (pid: number) => processIdentity(pid)?.slice(0, 200) ?? ''
