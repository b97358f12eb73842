import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { closeSync, openSync, readFileSync, statSync } from 'node:fs'
import { createInterface } from 'node:readline'
import { guardChild } from './guard.ts'
import { cpuSeconds, waitsFor } from './process-identity.ts'
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
export type Child = Awaited<ReturnType<typeof startChild>>

const STOP_WITHIN_MS = 30_000
/** An idle JVM computes for less than this in a minute. */
const CPU_STEP_SECONDS = 2
/** Without /proc, a look is a process of its own. */
const LOOK_EACH_MS = 1000
/** Of a JVM that logs or computes for ever, and is never ready: it moves. */
const MOST_LOOKS = 600

/**
 * Starts a process in a process group of its own, so that Ctrl-C reaches only this process and the children can be
 * stopped in order. Throws StackError when the program cannot be run.
 */
export async function startChild({ name, file, args, output, env, cwd, user, stopSignal = 'SIGTERM' }: Command) {
  const log = typeof output === 'string' ? openSync(output, 'a') : 'pipe'
  const options = { cwd, env: env ?? process.env, detached: true, ...user }
  const child = spawn(file, args, { ...options, stdio: ['ignore', log, log] })
  if (log !== 'pipe') closeSync(log)
  const exited = new Promise<string>((resolve) => {
    child.once('exit', (code, signal) => resolve(signal ?? `exit code ${code}`))
  })
  await once(child, 'spawn').catch((error: Error) => {
    throw new StackError(`${name}: cannot run ${file}: ${error.message}`)
  })
  const pid = child.pid as number
  guardChild(child, stopSignal)
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
    /** Resolves when the process has ended, with how: `exit code 1`, `SIGKILL`. */
    exited,
    /** Changes while the process prints or computes. */
    activity() {
      const printed = typeof output === 'string' ? statSync(output, { throwIfNoEntry: false })?.size : lines
      return `${printed} ${Math.floor(cpuSeconds(pid) / CPU_STEP_SECONDS)}`
    },
    /** What it waits for, for the error when it stands still. */
    waitsFor: () => waitsFor(pid),
    /** The last that it printed, for the error when it did not start. */
    lastWords: () => (typeof output === 'string' ? lastLines(output) : lastLine),
    signal: (name: NodeJS.Signals) => child.kill(name),
    /** kill -9, and waits until it is gone. */
    kill: () => end('SIGKILL'),
    /** As `kill`, with the processes that it has started. */
    async killAll() {
      try {
        process.kill(-pid, 'SIGKILL')
      } catch {
        // None is left.
      }
      await exited
    },
    /** Asks it to stop, waits, and kills it after 30 s. */
    async stop() {
      const timer = setTimeout(() => child.kill('SIGKILL'), STOP_WITHIN_MS)
      await end(stopSignal)
      clearTimeout(timer)
    },
  }
}

/** Runs a program to its end. Throws StackError, with `failure` and its last words, unless it ends with exit code 0. */
export async function runToEnd(command: Command, failure: string): Promise<void> {
  const { how, lastWords } = await endOf(command)
  if (how !== 'exit code 0') throw new StackError(`${failure} (${how}): ${lastWords}`)
}

/** Runs a program to its end, and kills it when it stands still. Returns how it ended and the last that it said. */
export async function endOf(command: Command, standstillMs = 60_000) {
  const child = await startChild(command)
  const watch = watchForStandstill(child, standstillMs)
  const how = await Promise.race([child.exited, watch.stoodStill])
  watch.end()
  await child.killAll()
  return { how, lastWords: child.lastWords() }
}

/**
 * Looks each second at what a process does. `stoodStill` resolves, with words for an error, once it has neither printed
 * nor computed for `limitMs`, or has been watched for ten minutes.
 */
export function watchForStandstill({ activity }: Pick<Child, 'activity'>, limitMs: number) {
  const looksLike = standstill(limitMs / LOOK_EACH_MS)
  let looks = 0
  let timer: NodeJS.Timeout | undefined
  const stoodStill = new Promise<string>((resolve) => {
    timer = setInterval(() => {
      if (looksLike(activity())) resolve(`it has done nothing for ${limitMs / 1000} s`)
      else if (++looks > MOST_LOOKS) resolve(`it was not done after ${(MOST_LOOKS * LOOK_EACH_MS) / 60_000} minutes`)
    }, LOOK_EACH_MS)
  })
  return { stoodStill, end: () => clearInterval(timer) }
}

/**
 * Makes a function of a process's activity, to be called at each look: whether it has been the same for `limit` looks.
 * By the clock a process that starts would stand still when the machine was suspended.
 */
export function standstill(limit: number): (activity: string) => boolean {
  let last: string | undefined
  let same = 0
  return (activity) => {
    same = activity === last ? same + 1 : 0
    last = activity
    return same >= limit
  }
}

/** The last three lines of a log file that are not empty. */
function lastLines(file: string): string {
  const lines = readFileSync(file, 'utf8').split('\n')
  return lines
    .filter((line) => line.trim() !== '')
    .slice(-3)
    .join(' | ')
}
