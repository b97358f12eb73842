import { existsSync, mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { processIdentity } from './processes.ts'
import { StackError } from './stack-error.ts'

interface RecordedProcess {
  readonly name: string
  readonly pid: number
  /** Tells it apart from a later process of the same id. */
  readonly identity: string
}

interface Recorded {
  readonly stack: RecordedProcess
  readonly children: readonly RecordedProcess[]
}

/** One stack's claim on its folder. */
export interface StackLock {
  /** Writes down what runs now, so that the next start can clean up after a stack that was killed. */
  record(pids: Readonly<Record<string, number>>): void
  release(): void
}

// A little more than the guard gives the children of a killed stack.
const LEFTOVERS_END_WITHIN_MS = 12_000

/**
 * Claims a folder for this process. Ends what a stack that was killed left behind, after telling `onWait` what that is.
 * Throws StackError while another stack runs on the folder.
 */
export async function lockStack(
  directory: string,
  onWait: (text: string) => void,
  leftoversEndWithinMs = LEFTOVERS_END_WITHIN_MS,
): Promise<StackLock> {
  mkdirSync(directory, { recursive: true })
  const file = join(directory, 'running.json')
  const earlier = read(file)
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
  const record = (pids: Readonly<Record<string, number>>) => {
    const children = Object.entries(pids).map(([name, pid]) => recorded(name, pid))
    writeFileSync(`${file}.new`, JSON.stringify({ stack, children } satisfies Recorded, null, 2))
    renameSync(`${file}.new`, file)
  }
  record({})
  return { record, release: () => rmSync(file, { force: true }) }
}

async function endLeftovers(leftovers: readonly RecordedProcess[], withinMs: number): Promise<void> {
  const deadline = Date.now() + withinMs
  while (leftovers.some(isAlive)) {
    await delay(100)
    if (Date.now() > deadline) for (const { pid } of leftovers.filter(isAlive)) process.kill(pid, 'SIGKILL')
  }
}

const namesOf = (processes: readonly RecordedProcess[]) =>
  processes.map(({ name, pid }) => `${name} (process ${pid})`).join(', ')

const recorded = (name: string, pid: number): RecordedProcess => ({ name, pid, identity: identify(pid) })

const isAlive = ({ pid, identity }: RecordedProcess) => identity !== '' && identify(pid) === identity

/** Enough of it to be told apart by: a class path makes a long command line. */
const identify = (pid: number) => processIdentity(pid)?.slice(0, 200) ?? ''

function read(file: string): Recorded | undefined {
  return existsSync(file) ? JSON.parse(readFileSync(file, 'utf8')) : undefined
}
