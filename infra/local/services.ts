import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { SERVICE_NAMES, type ServiceName } from '@backoffice/contracts/services.ts'
import { startChild } from './child.ts'
import { type ManagedProcess, startManagedProcess } from './managed-process.ts'
import { answersOk } from './ports.ts'
import { type StackEnvironment, settingsOf } from './service-settings.ts'

/** Node's flags for every service. By default V8 lets a hundred megabytes of young garbage pile up on a large machine. */
const FLAGS = ['--max-semi-space-size=8']
/**
 * For services whose batches leave much garbage: by default V8 lets it grow to several times of what is in use. Measured
 * during imports: some 70 MB less at the peak of catalog.
 */
const COLLECT_EARLY = '--heap-growing-percent=100'

/**
 * Node's flags for single services. webhook-delivery handles much and holds little, bounded well below this limit (decision 005).
 * Measured: both flags halve its memory in a burst and cost no time.
 */
const FLAGS_OF: Readonly<Partial<Record<ServiceName, readonly string[]>>> = {
  'webhook-delivery': ['--max-old-space-size=160'],
  // It reads files as streams: what it holds does not grow with them.
  imports: ['--max-old-space-size=120'],
  catalog: [COLLECT_EARLY],
  collections: [COLLECT_EARLY],
}
/**
 * Settings of the GNU C library (mallopt(3)): by default it keeps the memory of freed large buffers in many places. Measured:
 * 20 MB less in a burst at no cost in time. Other libraries ignore them.
 */
const ALLOCATION = { MALLOC_ARENA_MAX: '1', MALLOC_MMAP_THRESHOLD_: '131072' }

/** The folder of a service. */
export const serviceDirectory = (name: string): string => join(import.meta.dirname, '../../services', name)

interface ServiceRun {
  readonly port: number
  readonly opsPort: number
  readonly stack: StackEnvironment
  onLine(line: string): void
  onDeath(how: string): void
}

/** Starts a service as a process of its own; resolves once it is ready. */
export function startService(name: ServiceName, run: ServiceRun): Promise<ManagedProcess> {
  const { port, opsPort, stack } = run
  const main = mainOf(name)
  let lastLine = existsSync(main) ? 'it printed nothing' : `${main} is missing`
  return startManagedProcess({
    name,
    launch: () =>
      startChild({
        name,
        file: process.execPath,
        args: [...FLAGS, ...(FLAGS_OF[name] ?? []), main],
        env: {
          ...process.env,
          ...ALLOCATION,
          HOST: '127.0.0.1',
          PORT: String(port),
          OPS_PORT: String(opsPort),
          ...settingsOf(name, stack),
        },
        output: (line) => {
          lastLine = line
          run.onLine(line)
        },
      }),
    isReady: () => answersOk(`http://127.0.0.1:${opsPort}/readyz`),
    explain: () => lastLine,
    onDeath: run.onDeath,
  })
}

/**
 * Fills the compile cache with the services' stripped sources: runs each service without configuration, which ends it once its modules
 * are loaded. A service that strips its own sources keeps the stripper's 18 MB as long as it runs.
 */
export async function cacheSources(): Promise<void> {
  const { PATH, NODE_COMPILE_CACHE } = process.env
  if (NODE_COMPILE_CACHE === undefined) return
  for (const name of SERVICE_NAMES) {
    const env = { PATH, NODE_COMPILE_CACHE }
    await once(spawn(process.execPath, [mainOf(name)], { env, stdio: 'ignore' }), 'exit')
  }
}

const mainOf = (name: ServiceName) => join(serviceDirectory(name), 'src', 'main.ts')
