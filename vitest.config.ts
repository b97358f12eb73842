import { isLostWhileOpened } from '@backoffice/postgres/postgres-errors.ts'
import { configDefaults, defineConfig } from 'vitest/config'
import { BaseSequencer, type TestSpecification } from 'vitest/node'

/** Tests that need minutes: they kill processes again and again, keep a server away for long, or install programs. */
const FAULTS = '**/*.faults.test.ts'
/** It says how long calls take while one tenant attacks, so it has the machine to itself. */
const NEIGHBOURS = 'tests/neighbours.test.ts'
/** A browser takes more than a processor. One journey through all pages is among the end-to-end tests. */
const BROWSER = ['tests/app-pages.test.ts', 'tests/console/!(journey).test.ts']
const exclude = [...configDefaults.exclude, FAULTS, NEIGHBOURS, ...BROWSER]

/**
 * The settings of every project. Projects that extended the root would each start the backing services again. A test
 * fails only when what it polls for does not come at all: machines that run tests stand still for seconds.
 */
const everywhere = {
  pool: 'forks',
  expect: { poll: { timeout: 60_000, interval: 100 } },
} as const

/** Fault tests that take longest. They begin first: else one worker has nothing to do while they end. */
const LONGEST = ['images', 'rolling', 'metrics', 'webhook-order', 'clients', 'pooler', 'brokers', 'generated-requests']

class LongestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]) {
    const isLong = ({ moduleId }: TestSpecification) =>
      LONGEST.some((name) => moduleId.endsWith(`/${name}.faults.test.ts`))
    const sorted = await super.sort(files)
    return [...sorted.filter(isLong), ...sorted.filter((file) => !isLong(file))]
  }
}

export default defineConfig({
  test: {
    sequence: { sequencer: LongestFirst },
    globalSetup: 'tests/global-setup.ts',
    // Tests wait more than they compute: two workers leave two cores idle for a third of the time.
    maxWorkers: 3,
    // As services do: the driver throws it where nobody can catch it. It comes here without its class.
    onUnhandledError: (error) => !isLostWhileOpened(Object.assign(new Error(error.message), error)),
    projects: [
      {
        test: {
          ...everywhere,
          name: 'unit and service',
          env: { ASSETS_URL: 'http://localhost:8080/assets' },
          include: ['{libs,services,infra,console}/**/*.test.ts'],
          exclude,
          // The files of a worker share their modules, so a module keeps no state of a test.
          isolate: false,
          testTimeout: 180_000,
          hookTimeout: 180_000,
        },
      },
      {
        test: {
          ...everywhere,
          name: 'end to end',
          include: ['tests/**/*.test.ts'],
          exclude,
          isolate: false,
          sequence: { groupOrder: 1 },
          testTimeout: 240_000,
          hookTimeout: 240_000,
        },
      },
      {
        test: {
          ...everywhere,
          name: 'faults',
          include: [FAULTS],
          // Each test file starts a stack of its own, and its processes need the processor: a third one would slow all
          // down.
          maxWorkers: 2,
          maxConcurrency: 2,
          sequence: { groupOrder: 2 },
          testTimeout: 240_000,
          hookTimeout: 120_000,
        },
      },
      {
        test: {
          ...everywhere,
          name: 'neighbours',
          include: [NEIGHBOURS],
          // Last: it leaves much data in the shared stack.
          sequence: { groupOrder: 4 },
          testTimeout: 240_000,
          hookTimeout: 120_000,
        },
      },
      {
        test: {
          ...everywhere,
          name: 'browser',
          include: BROWSER,
          maxWorkers: 2,
          sequence: { groupOrder: 3 },
          testTimeout: 240_000,
          hookTimeout: 240_000,
        },
      },
    ],
  },
})
