import type { Reporter, TestModule } from 'vitest/node'

/** How many tests passed and failed. */
export interface Counts {
  readonly passed: number
  readonly failed: number
}

const SLOWEST = 10

/** Prints the slowest files of a run and sends its `Counts` to the parent process. */
export default class TestReport implements Reporter {
  onTestRunEnd(modules: readonly TestModule[]): void {
    const slowest = modules
      .map((module) => ({ file: module.relativeModuleId, seconds: secondsOf(module) }))
      .sort((a, b) => b.seconds - a.seconds)
      .slice(0, SLOWEST)
    console.log('Slowest files (seconds, imports included):')
    for (const { file, seconds } of slowest) console.log(`${seconds.toFixed(1).padStart(7)}  ${file}`)
    const all = modules.map(countsOf)
    const sum = (key: keyof Counts) => all.reduce((total, { [key]: count }) => total + count, 0)
    process.send?.({ passed: sum('passed'), failed: sum('failed') } satisfies Counts)
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
