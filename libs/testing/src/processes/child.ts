import { spawn } from 'node:child_process'
import { closeSync, openSync, readFileSync, statSync } from 'node:fs'
import { createInterface } from 'node:readline'
import { guardChild, unguardChild } from './guard.ts'
import { cpuSeconds } from './process-identity.ts'
import { StackError } from './stack-error.ts'

/** A process to run. Its output goes to a file or, line by line, to a function. */
export interface Command {
  readonly name: string
  readonly file: string
  readonly args: readonly string[]
  readonly output: string | ((line: string) => void)
  readonly env?: NodeJS.ProcessEnv
  readonly cwd?: string
  readonly user?: { readonly uid: number; readonly gid: number } | undefined
  /** Asks the process to stop in good order; SIGTERM unless given. */
  readonly stopSignal?: NodeJS.Signals
}

/** A running process. */
export interface Child {
  readonly pid: number
  /** Resolves when the process has ended, with how: `exit code 1`, `SIGKILL`. */
  readonly exited: Promise<string>
  /** Changes while the process prints or computes. */
  activity(): string
  /** The last that it printed, for the error when it did not start. */
  lastWords(): string
  /** Asks it to stop, waits, and kills it after 30 s. */
  stop(): Promise<void>
  /** kill -9, and waits until it is gone. */
  kill(): Promise<void>
}

const STOP_WITHIN_MS = 30_000
/** An idle JVM computes for less than this in a minute. */
const CPU_STEP_SECONDS = 2

/**
 * Starts a process in a process group of its own, so that Ctrl-C reaches only this process and the children can be
 * stopped in order. Throws StackError when the program cannot be run.
 */
export async function startChild(command: Command): Promise<Child> {
  const stopSignal = command.stopSignal ?? 'SIGTERM'
  const toFile = typeof command.output === 'string' ? openSync(command.output, 'a') : undefined
  const child = spawn(command.file, command.args, {
    cwd: command.cwd,
    env: command.env ?? process.env,
    detached: true,
    stdio: ['ignore', toFile ?? 'pipe', toFile ?? 'pipe'],
    ...command.user,
  })
  if (toFile !== undefined) closeSync(toFile)
  const exited = new Promise<string>((resolve) => {
    child.once('exit', (code, signal) => resolve(signal ?? `exit code ${code}`))
  })
  await new Promise<void>((resolve, reject) => {
    child.once('spawn', resolve)
    child.once('error', (error) =>
      reject(new StackError(`${command.name}: cannot run ${command.file}: ${error.message}`)),
    )
  })
  const pid = child.pid as number
  guardChild(pid, stopSignal)
  void exited.then(() => unguardChild(pid))
  const { output } = command
  let [lines, lastLine] = [0, 'it printed nothing']
  if (typeof output === 'function') {
    const onLine = (line: string) => {
      lines++
      lastLine = line
      output(line)
    }
    for (const stream of [child.stdout, child.stderr]) {
      if (stream) createInterface({ input: stream }).on('line', onLine)
    }
  }
  const end = async (signal: NodeJS.Signals) => {
    child.kill(signal)
    await exited
  }
  return {
    pid,
    exited,
    activity() {
      const printed = typeof output === 'string' ? statSync(output, { throwIfNoEntry: false })?.size : lines
      return `${printed} ${Math.floor(cpuSeconds(pid) / CPU_STEP_SECONDS)}`
    },
    lastWords: () => (typeof output === 'string' ? lastLines(output) : lastLine),
    kill: () => end('SIGKILL'),
    async stop() {
      const timer = setTimeout(() => child.kill('SIGKILL'), STOP_WITHIN_MS)
      await end(stopSignal)
      clearTimeout(timer)
    },
  }
}

/** Runs a program to its end and returns how it ended. */
export async function runToEnd(command: Command): Promise<string> {
  const child = await startChild(command)
  return child.exited
}

/** The last lines of a log file that are not empty: for the error when a program did not start. */
export function lastLines(file: string, count = 3): string {
  const lines = readFileSync(file, 'utf8').split('\n')
  return lines
    .filter((line) => line.trim() !== '')
    .slice(-count)
    .join(' | ')
}
