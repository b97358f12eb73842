import { existsSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { SERVICE_NAMES, type ServiceName } from '@backoffice/contracts/services.ts'
import { bundle } from '@backoffice/docker/bundle.ts'
import {
  ALLOCATION,
  COMPILE_CACHE,
  nodeFlags,
  PROGRAMS,
  programFile,
  START_SCRIPT,
} from '@backoffice/docker/start-script.ts'
import { ROOT } from '@backoffice/docker/workspaces.ts'
import { endOf } from '@backoffice/testing/processes/child.ts'
import { type ManagedProcess, startManagedProcess } from '@backoffice/testing/processes/managed-process.ts'
import { answerOf, answersOk } from '@backoffice/testing/processes/ports.ts'
import { StackError } from '@backoffice/testing/processes/stack-error.ts'
import { type StackEnvironment, settingsOf } from './service-settings.ts'

const SERVICES = join(import.meta.dirname, '../../services')

/** The folder of a service. */
export const serviceDirectory = (name: string): string => join(SERVICES, name)

interface ServiceRun {
  readonly port: number
  readonly opsPort: number
  readonly stack: StackEnvironment
  /** The folder of the bundled services; that of this version unless given. */
  readonly programsIn?: string | undefined
  /** Settings besides those of the stack, or in their place. */
  readonly settings?: NodeJS.ProcessEnv
  onLine(line: string): void
  onDeath(how: string): void
}

/** Starts a service as a process of its own; resolves once it is ready. */
export async function startService(name: ServiceName, run: ServiceRun): Promise<ManagedProcess> {
  const { port, opsPort, stack } = run
  const { file, args } = programOf(name, run)
  const program = args.at(-1) ?? file
  const probe = `http://127.0.0.1:${opsPort}/readyz`
  if (!existsSync(program)) throw new StackError(`${name} did not start: ${program} is missing`)
  return startManagedProcess({
    command: {
      name,
      file,
      args,
      env: {
        ...process.env,
        ...ALLOCATION,
        ...cacheIn(run.programsIn ?? programsIn(stack)),
        HOST: '127.0.0.1',
        PORT: String(port),
        OPS_PORT: String(opsPort),
        ...settingsOf(name, stack, process.env),
        ...run.settings,
      },
      output: run.onLine,
    },
    isReady: () => answersOk(probe),
    whyNot: () => answerOf(probe),
    onDeath: run.onDeath,
  })
}

/** The folder of the services' programs: one that a test run has made for all of its stacks, else the stack's. */
const programsIn = ({ directory }: Pick<StackEnvironment, 'directory'>): string =>
  process.env.PROGRAMS_DIRECTORY ?? join(directory, PROGRAMS)

/** A service's program: the given one; else its image's in SERVICES_DIRECTORY, or the stack's. */
function programOf(name: ServiceName, { stack, programsIn: given }: Pick<ServiceRun, 'stack' | 'programsIn'>) {
  const { SERVICES_DIRECTORY: trees } = process.env
  if (given === undefined && trees) return { file: join(trees, name, START_SCRIPT), args: [] }
  return { file: process.execPath, args: [...nodeFlags(name), join(given ?? programsIn(stack), programFile(name))] }
}

/** Bundles the services of a stack, unless a test run has done so for all of its stacks, or images have them. */
export async function bundleFor(directory: string): Promise<void> {
  const { SERVICES_DIRECTORY, PROGRAMS_DIRECTORY } = process.env
  if (SERVICES_DIRECTORY || PROGRAMS_DIRECTORY) return
  await bundleServices(join(directory, PROGRAMS))
}

/**
 * Writes the programs of all services to a folder. Starts each without settings, so that it ends once its modules are
 * loaded: Node compiles them for later starts.
 */
export async function bundleServices(folder: string): Promise<void> {
  rmSync(folder, { recursive: true, force: true })
  await bundle(ROOT, SERVICE_NAMES, folder)
  for (const name of SERVICE_NAMES) {
    // An endpoint makes it load what exports traces, too.
    const env = { PATH: process.env.PATH, ...cacheIn(folder), OTEL_EXPORTER_OTLP_ENDPOINT: 'http://127.0.0.1:4318' }
    const args = [...nodeFlags(name), join(folder, programFile(name))]
    await endOf({ name, file: process.execPath, args, env, output: () => undefined })
  }
}

const cacheIn = (folder: string) => ({ NODE_COMPILE_CACHE: join(folder, COMPILE_CACHE) })
