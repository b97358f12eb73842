import { rmSync } from 'node:fs'
import { join } from 'node:path'
import { demoWorkspaces } from './demo.ts'
import { startFoundation } from './foundation.ts'
import { freePort, isFree } from './ports.ts'
import { removePostgresData } from './postgres-place.ts'
import { stackSecrets } from './secrets.ts'
import { cacheSources, type StackEnvironment, services, startService } from './services.ts'
import { StackError } from './stack-error.ts'
import { removeStackFile, type StackDescription, writeStackFile } from './stack-file.ts'
import { lockStack } from './stack-lock.ts'
import type { Step } from './steps.ts'
import { createSupervisor, type Supervisor } from './supervisor.ts'

interface StackOptions {
  /** Keeps data, secrets and stack.json. */
  readonly directory: string
  /** The gateway's; 0 takes a free one. */
  readonly port: number
  /** Forget the data of earlier runs. */
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
 * Starts everything and writes stack.json once all of it is ready. `onStop` gets what stops it, whatever has been
 * started by then, before anything is. Throws StackError with what the person at the terminal can do.
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
    await supervisor.stop([['gateway'], services.map(({ name }) => name), ['kafka', 'registry', 'postgres']])
    removeStackFile(directory)
    lock.release()
  })
  if (options.port !== 0 && !(await isFree(options.port, '127.0.0.1'))) throw portInUse(options.port)
  removeStackFile(directory)
  if (options.fresh) forget(directory)
  const environment = await startServices(options, supervisor)
  const { workspaces, product } = await options.step('demo workspaces and products', () =>
    demoWorkspaces(environment.urls.gateway ?? '', environment.secrets.adminToken, directory),
  )
  description = withPids(describe(environment, workspaces), supervisor)
  writeStackFile(directory, description)
  return { description, product }
}

async function startServices(options: StackOptions, supervisor: Supervisor): Promise<StackEnvironment> {
  const { directory, step } = options
  const secrets = stackSecrets(directory)
  const onDeath = (name: string, how: string) => void supervisor.revive(name, how)
  const { rolePassword } = secrets
  const [foundation] = await Promise.all([
    startFoundation({ directory, rolePassword, step, onPart: supervisor.add, onDeath }),
    cacheSources(),
  ])
  const ports = new Map<string, number>()
  for (const { name } of services)
    ports.set(name, name === 'gateway' ? options.port || (await freePort()) : await freePort())
  const urls = Object.fromEntries([...ports].map(([name, port]) => [name, `http://127.0.0.1:${port}`]))
  const stack = { ...foundation, directory, secrets, urls }
  await Promise.all(
    services.map((service) =>
      step(service.name, async () => {
        const run = { port: ports.get(service.name) ?? 0, opsPort: await freePort(), stack }
        const onLine = (line: string) => options.onServiceLine(service.name, line)
        const part = await startService(service, { ...run, onLine, onDeath: (how) => onDeath(service.name, how) })
        supervisor.add(service.name, part)
      }),
    ),
  )
  return stack
}

function describe(stack: StackEnvironment, workspaces: StackDescription['workspaces']): StackDescription {
  return {
    gateway: stack.urls.gateway ?? '',
    admin_token: stack.secrets.adminToken,
    workspaces,
    postgres: stack.postgres,
    kafka: stack.kafka,
    registry: stack.registry,
    services: Object.fromEntries(Object.entries(stack.urls).map(([name, url]) => [name, { pid: 0, url }])),
  }
}

/** The description with the process ids of now; a service that is down keeps its last one. */
function withPids(description: StackDescription, supervisor: Supervisor): StackDescription {
  const pids = supervisor.pids()
  const withPid = Object.entries(description.services).map(([name, { pid, url }]) => [
    name,
    { pid: pids[name] ?? pid, url },
  ])
  return { ...description, services: Object.fromEntries(withPid) }
}

const portInUse = (port: number) =>
  new StackError(`port ${port} is in use: stop what listens there, or choose another with PORT=<port> npm start`)

/** Secrets stay: the admin token that a shell has noted down goes on working. */
function forget(directory: string): void {
  removePostgresData(join(directory, 'postgres'))
  for (const name of ['kafka', 'registry', 'assets', 'demo.json'])
    rmSync(join(directory, name), { recursive: true, force: true })
}
