import { rmSync } from 'node:fs'
import { join } from 'node:path'
import { SERVICE_NAMES, type ServiceName, stopGroups } from '@backoffice/contracts/services.ts'
import { freePort, refuseUnusable } from '@backoffice/testing/processes/ports.ts'
import { removePostgresData } from '@backoffice/testing/servers/postgres-place.ts'
import { demoWorkspaces } from './demo.ts'
import { rolePasswords, stackSecrets } from './secrets.ts'
import type { StackEnvironment } from './service-settings.ts'
import { cacheSources, startService } from './services.ts'
import { removeStackFile, type StackDescription, writeStackFile } from './stack-file.ts'
import { lockStack } from './stack-lock.ts'
import { startBackingServices } from './start-backing-services.ts'
import type { Step } from './steps.ts'
import { createSupervisor, type Supervisor } from './supervisor.ts'

interface StackOptions {
  /** The folder of data, secrets and stack.json. */
  readonly directory: string
  /** The gateway's; 0 takes a free one. */
  readonly port: number
  /** Deletes the data of earlier runs first. */
  readonly fresh: boolean
  readonly step: Step
  print(line: string): void
  /** One line of a service's output. */
  onServiceLine(service: string, line: string): void
}

/** The whole system on this machine. */
export interface Stack {
  readonly description: StackDescription
  /** Id of a product of the live demo workspace. */
  readonly product: string
}

/**
 * Starts everything and writes stack.json once all of it is ready. Before that it calls `onStop` with the function that
 * stops whatever has been started. Throws StackError with what the user at the terminal can do.
 */
export async function startStack(options: StackOptions, onStop: (stop: () => Promise<void>) => void): Promise<Stack> {
  const { directory, print } = options
  const lock = await lockStack(directory, print)
  let description: StackDescription | undefined
  const supervisor = createSupervisor({
    print,
    onChange: () => {
      lock.record(supervisor.pids())
      if (description) writeStackFile(directory, withPids(description, supervisor))
    },
  })
  onStop(async () => {
    await supervisor.stop([...stopGroups(), ['kafka', 'registry', 'postgres']])
    removeStackFile(directory)
    lock.release()
  })
  if (options.port !== 0) await refuseUnusable(options.port)
  removeStackFile(directory)
  if (options.fresh) deleteData(directory)
  const { environment, operations } = await startServices(options, supervisor)
  const { workspaces, product } = await options.step('demo workspaces and products', () =>
    demoWorkspaces(environment.urls.gateway ?? '', environment.secrets.adminToken, directory),
  )
  description = withPids(describe(environment, operations, workspaces), supervisor)
  writeStackFile(directory, description)
  return { description, product }
}

/** The services' ports for probes and metrics, as URLs. */
type OperationsUrls = Map<string, string>

async function startServices(
  options: StackOptions,
  supervisor: Supervisor,
): Promise<{ environment: StackEnvironment; operations: OperationsUrls }> {
  const { directory, step } = options
  const { ADMIN_TOKEN: adminToken } = process.env
  const secrets = { ...stackSecrets(directory), ...(adminToken && { adminToken }) }
  const onDeath = (name: string, how: string) => void supervisor.restart(name, how)
  const [addresses] = await Promise.all([
    startBackingServices({ directory, passwordOf: rolePasswords(secrets), step, onStarted: supervisor.add, onDeath }),
    cacheSources(),
  ])
  const ports = new Map<ServiceName, number>()
  for (const name of SERVICE_NAMES)
    ports.set(name, name === 'gateway' ? options.port || (await freePort()) : await freePort())
  const urls = Object.fromEntries([...ports].map(([name, port]) => [name, `http://127.0.0.1:${port}`]))
  const stack = { ...addresses, directory, secrets, urls }
  const operations: OperationsUrls = new Map()
  await Promise.all(
    SERVICE_NAMES.map((name) =>
      step(name, async () => {
        const opsPort = await freePort()
        operations.set(name, `http://127.0.0.1:${opsPort}`)
        const run = { port: ports.get(name) ?? 0, opsPort, stack }
        const onLine = (line: string) => options.onServiceLine(name, line)
        const managed = await startService(name, { ...run, onLine, onDeath: (how) => onDeath(name, how) })
        supervisor.add(name, managed)
      }),
    ),
  )
  return { environment: stack, operations }
}

function describe(
  stack: StackEnvironment,
  operations: OperationsUrls,
  workspaces: StackDescription['workspaces'],
): StackDescription {
  return {
    gateway: stack.urls.gateway ?? '',
    admin_token: stack.secrets.adminToken,
    workspaces,
    postgres: stack.postgres,
    kafka: stack.kafka,
    registry: stack.registry,
    services: Object.fromEntries(
      Object.entries(stack.urls).map(([name, url]) => [name, { pid: 0, url, operations: operations.get(name) ?? '' }]),
    ),
  }
}

/** The description with the present process ids; a service that is down keeps its last one. */
function withPids(description: StackDescription, supervisor: Supervisor): StackDescription {
  const pids = supervisor.pids()
  const withPid = Object.entries(description.services).map(([name, service]) => [
    name,
    { ...service, pid: pids[name] ?? service.pid },
  ])
  return { ...description, services: Object.fromEntries(withPid) }
}

/** Keeps the secrets, so that an admin token noted in a shell stays valid. */
function deleteData(directory: string): void {
  removePostgresData(join(directory, 'postgres'))
  for (const name of ['kafka', 'registry', 'assets', 'demo.json'])
    rmSync(join(directory, name), { recursive: true, force: true })
}
