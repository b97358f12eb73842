import { rmSync } from 'node:fs'
import { join } from 'node:path'
import { SERVICE_NAMES, stopGroups } from '@backoffice/contracts/services.ts'
import { freePort, refuseUnusable } from '@backoffice/testing/processes/ports.ts'
import { removePostgresData } from '@backoffice/testing/servers/postgres-place.ts'
import { demoWorkspaces } from './demo.ts'
import { rolePasswords, stackSecrets } from './secrets.ts'
import { bundleFor, startService } from './services.ts'
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
  /** Opens the console of the live demo workspace, once. */
  readonly consoleUrl: string
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
  const started = await startServices(options, supervisor)
  const { workspaces, product, consoleUrl } = await options.step('demo workspaces and products', () =>
    demoWorkspaces(started.gateway, started.admin_token, directory),
  )
  description = withPids({ ...started, workspaces }, supervisor)
  writeStackFile(directory, description)
  return { description, product, consoleUrl }
}

async function startServices(
  { directory, step, port: gatewayPort, onServiceLine }: StackOptions,
  supervisor: Supervisor,
): Promise<Omit<StackDescription, 'workspaces'>> {
  const { ADMIN_TOKEN: adminToken } = process.env
  const secrets = { ...stackSecrets(directory), ...(adminToken && { adminToken }) }
  const [addresses] = await Promise.all([
    startBackingServices({ directory, passwordOf: rolePasswords(secrets), step, supervisor }),
    bundleFor(directory),
  ])
  const ports = await Promise.all(
    SERVICE_NAMES.map(async (name) => {
      const port = (name === 'gateway' && gatewayPort) || (await freePort())
      return { name, port, opsPort: await freePort() }
    }),
  )
  const urls = Object.fromEntries(ports.map(({ name, port }) => [name, `http://127.0.0.1:${port}`]))
  const stack = { ...addresses, directory, secrets, urls }
  await Promise.all(
    ports.map(({ name, port, opsPort }) =>
      step(name, async () => {
        const onLine = (line: string) => onServiceLine(name, line)
        const onDeath = (how: string) => void supervisor.restart(name, how)
        supervisor.add(name, await startService(name, { port, opsPort, stack, onLine, onDeath }))
      }),
    ),
  )
  const services = ports.map(({ name, opsPort }) => {
    return [name, { pid: 0, url: urls[name] ?? '', operations: `http://127.0.0.1:${opsPort}` }] as const
  })
  return {
    ...addresses,
    gateway: urls.gateway ?? '',
    admin_token: secrets.adminToken,
    services: Object.fromEntries(services),
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
