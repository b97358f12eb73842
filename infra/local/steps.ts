import type { Progress } from '@backoffice/testing/processes/managed-process.ts'
import { StackError } from '@backoffice/testing/processes/stack-error.ts'

// A terminal shows progress in one line; a log keeps every line, so there progress appears rarely.
const LOG_EVERY_MS = 3_000

/** Shows a step of the start while it runs and when it is done. */
export type Step = typeof step

/** Runs a step, shows its progress and, when it is done, its time. Throws StackError when it fails. */
export async function step<Result>(title: string, run: (onProgress: Progress) => Promise<Result>): Promise<Result> {
  const startedAt = performance.now()
  const result = await run(progressOf(title)).catch((error: Error) => {
    throw error instanceof StackError ? error : new StackError(`${title}: ${error.message}`, { cause: error })
  })
  printLine(`  ${seconds(startedAt).padStart(6)}  ${title}`)
  return result
}

/** The time since a value of `performance.now()`, such as `2.5 s`. */
export const seconds = (since: number): string => `${((performance.now() - since) / 1000).toFixed(1)} s`

/** Prints a line; it replaces the progress on a terminal. */
export function printLine(line: string, stream: NodeJS.WriteStream = process.stdout): void {
  if (process.stdout.isTTY) process.stdout.write('\r\x1b[2K')
  stream.write(`${line}\n`)
}

function progressOf(title: string): Progress {
  let shownAt = performance.now()
  return (text) => {
    const line = `       …  ${title}: ${text}`
    if (process.stdout.isTTY) process.stdout.write(`\r\x1b[2K${line.slice(0, process.stdout.columns - 1)}`)
    else if (performance.now() - shownAt > LOG_EVERY_MS) {
      shownAt = performance.now()
      printLine(line)
    }
  }
}
