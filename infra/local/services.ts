import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { SERVICE_NAMES, type ServiceName } from '@backoffice/contracts/services.ts'
import { ALLOCATION, nodeFlags, START_SCRIPT } from '@backoffice/docker/start-script.ts'
import { endOf } from '@backoffice/testing/processes/child.ts'
import { type ManagedProcess, startManagedProcess } from '@backoffice/testing/processes/managed-process.ts'
import { answersOk } from '@backoffice/testing/processes/ports.ts'
import { StackError } from '@backoffice/testing/processes/stack-error.ts'
import { type StackEnvironment, settingsOf } from './service-settings.ts'

const SERVICES = join(import.meta.dirname, '../../services')

/** The folder of a service. */
export const serviceDirectory = (name: string): string => join(SERVICES, name)

interface ServiceRun {
  readonly port: number
  readonly opsPort: number
  readonly stack: StackEnvironment
  /** The folder of the services; that of this version unless given. */
  readonly servicesIn?: string
  /** Settings besides those of the stack, or in their place. */
  readonly settings?: NodeJS.ProcessEnv
  onLine(line: string): void
  onDeath(how: string): void
}

/** Starts a service as a process of its own; resolves once it is ready. */
export async function startService(name: ServiceName, run: ServiceRun): Promise<ManagedProcess> {
  const { port, opsPort, stack } = run
  const { file, args } = programOf(name, run.servicesIn)
  const program = args.at(-1) ?? file
  if (!existsSync(program)) throw new StackError(`${name} did not start: ${program} is missing`)
  return startManagedProcess({
    command: {
      name,
      file,
      args,
      env: {
        ...process.env,
        ...ALLOCATION,
        HOST: '127.0.0.1',
        PORT: String(port),
        OPS_PORT: String(opsPort),
        ...settingsOf(name, stack, process.env),
        ...run.settings,
      },
      output: run.onLine,
    },
    isReady: () => answersOk(`http://127.0.0.1:${opsPort}/readyz`),
    onDeath: run.onDeath,
  })
}

/** The program of a service: from another version, from the trees of images in SERVICES_DIRECTORY, else the sources. */
function programOf(
  name: ServiceName,
  servicesIn?: string,
): { readonly file: string; readonly args: readonly string[] } {
  const { SERVICES_DIRECTORY: trees } = process.env
  if (servicesIn === undefined && trees) return { file: join(trees, name, START_SCRIPT), args: [] }
  return { file: process.execPath, args: [...nodeFlags(name), mainOf(name, servicesIn)] }
}

/**
 * Fills the compile cache with the services' stripped sources: runs each service without configuration, so that it ends
 * once its modules are loaded. A service that strips its sources itself keeps the 18 MB of the stripper. A test run
 * fills the cache once for all of its stacks, and then sets SOURCES_CACHED.
 */
export async function cacheSources(): Promise<void> {
  const { PATH, NODE_COMPILE_CACHE, SERVICES_DIRECTORY, SOURCES_CACHED } = process.env
  if (NODE_COMPILE_CACHE === undefined || SERVICES_DIRECTORY || SOURCES_CACHED) return
  for (const name of SERVICE_NAMES) {
    // An endpoint makes it load the modules that export traces, too.
    const env = { PATH, NODE_COMPILE_CACHE, OTEL_EXPORTER_OTLP_ENDPOINT: 'http://127.0.0.1:4318' }
    // Node keeps a cache for each set of flags.
    const args = [...nodeFlags(name), mainOf(name)]
    await endOf({ name, file: process.execPath, args, env, output: () => undefined })
  }
}

const mainOf = (name: ServiceName, servicesIn = SERVICES) => join(servicesIn, name, 'src', 'main.ts')
