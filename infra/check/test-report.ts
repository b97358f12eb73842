import { stripVTControlCharacters } from 'node:util'
import type { Reporter, SerializedError, TestCase, TestModule } from 'vitest/node'

/** How many tests passed and failed. */
export interface Counts {
  readonly passed: number
  readonly failed: number
}

const SLOWEST = 10
/** How many lines are printed of the error of each failed test. */
const ERROR_LINES = 30

/** The longest test, and the longest preparation of one, may take 20 minutes. */
const STANDSTILL_MS = 25 * 60_000

/**
 * Prints the slowest files of a run and, last, what failed and why. Sends the run's `Counts` to the parent process. A
 * run in which nothing has begun or ended for 25 minutes fails, with what it was doing.
 */
export default class TestReport implements Reporter {
  readonly #running = new Set<string>()
  #watch: NodeJS.Timeout | undefined

  onInit(): void {
    this.#moved()
  }

  onTestModuleStart({ relativeModuleId }: TestModule): void {
    this.#running.add(relativeModuleId)
    this.#moved()
  }

  onTestModuleEnd({ relativeModuleId }: TestModule): void {
    this.#running.delete(relativeModuleId)
    this.#moved()
  }

  onTestCaseReady(test: TestCase): void {
    this.#running.add(nameOf(test))
    this.#moved()
  }

  onTestCaseResult(test: TestCase): void {
    this.#running.delete(nameOf(test))
    this.#moved()
  }

  #moved(): void {
    clearTimeout(this.#watch)
    this.#watch = setTimeout(() => {
      const what = [...this.#running].join(', ') || 'what is before and after all tests (tests/global-setup.ts)'
      const message = `no test has begun or ended for ${STANDSTILL_MS / 60_000} minutes; running: ${what}`
      printFailure('a run that stands still', [{ message }])
      process.exit(1)
    }, STANDSTILL_MS).unref()
  }

  onTestRunEnd(modules: readonly TestModule[], unhandledErrors: readonly SerializedError[]): void {
    const slowest = modules
      .map((module) => ({ file: module.relativeModuleId, seconds: secondsOf(module) }))
      .sort((a, b) => b.seconds - a.seconds)
      .slice(0, SLOWEST)
    console.log('Slowest files (seconds, imports included):')
    for (const { file, seconds } of slowest) console.log(`${seconds.toFixed(1).padStart(7)}  ${file}`)
    for (const module of modules) {
      printFailure(module.relativeModuleId, module.errors())
      for (const suite of module.children.allSuites())
        printFailure(`${module.relativeModuleId} > ${suite.fullName}`, suite.errors())
      for (const test of module.children.allTests('failed')) printFailure(nameOf(test), test.result().errors ?? [])
    }
    printFailure('outside of tests', unhandledErrors)
    const all = modules.map(countsOf)
    const sum = (key: keyof Counts) => all.reduce((total, { [key]: count }) => total + count, 0)
    process.send?.({ passed: sum('passed'), failed: sum('failed') } satisfies Counts)
  }
}

const nameOf = ({ module, fullName }: TestCase) => `${module.relativeModuleId} > ${fullName}`

/** `.ci/run` prints these lines again at its end. */
function printFailure(name: string, errors: readonly SerializedError[]): void {
  for (const { message, stack = '', diff = '' } of errors) {
    const places = stack.split('\n').filter((line) => line.startsWith('    at ') && !line.includes('node_modules'))
    const lines = stripVTControlCharacters([message, diff, ...places].join('\n')).split('\n')
    console.log(['', `Failed: ${name}`, ...lines.slice(0, ERROR_LINES).map((line) => `  | ${line}`)].join('\n'))
  }
}

function secondsOf(module: TestModule): number {
  const { collectDuration, duration } = module.diagnostic()
  return (collectDuration + duration) / 1000
}

/** A file that fails outside of its tests, for example while it loads, counts as one failure. */
function countsOf(module: TestModule): Counts {
  const count = (state: 'passed' | 'failed') => [...module.children.allTests(state)].length
  return { passed: count('passed'), failed: Math.max(count('failed'), module.state() === 'failed' ? 1 : 0) }
}
