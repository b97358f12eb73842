import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { constants } from 'node:os'
import { join } from 'node:path'
import type { ServiceName } from '@backoffice/contracts/services.ts'
import { defineCommand } from 'citty'
import { commandGroup, type Surroundings } from '../command/api-command.ts'
import { CommandError } from '../command/command-error.ts'
import { kafkaOf, WITHOUT_A_STACK, workerServer } from '../command/stack-services.ts'

const ROOT = join(import.meta.dirname, '../../..')

interface Check {
  readonly service: ServiceName
  /** The command's file in the folder of its service. */
  readonly file: string
  readonly description: string
  /** What it reads besides the database of its service. */
  readonly reads?: 'kafka' | 'catalog'
}

/** The commands that compare what is stored with what should be. They write nothing. */
const CHECKS = {
  'check-stock': {
    service: 'catalog',
    file: 'src/stock/check-ledger.ts',
    description: 'Compare the stock of all variants with their movements',
  },
  'check-orders': {
    service: 'orders',
    file: 'src/check/check-orders.ts',
    description: 'Compare orders with their payments, refunds, invoices and reserved stock',
    reads: 'catalog',
  },
  'check-members': {
    service: 'collections',
    file: 'src/memberships/check-members.ts',
    description: 'Compare the members of collections with their rules',
  },
  'check-apps': {
    service: 'apps',
    file: 'src/check/check-apps.ts',
    description: 'Name the apps whose tokens another app could take for its own',
  },
  reconcile: {
    service: 'webhook-delivery',
    file: 'src/reconcile/reconcile.ts',
    description:
      'Compare events of the last day with their deliveries: [--since <ISO>] [--until <ISO>] [--workspace <id>]',
    reads: 'kafka',
  },
} satisfies Record<string, Check>

export const checks = commandGroup(
  `Checks of stored data; each exits 1 when it finds something. ${WITHOUT_A_STACK}`,
  Object.fromEntries(Object.entries(CHECKS).map(([name, check]) => [name, checkCommand(check)])),
)

/** A command that runs a check of a service, with all its options, and ends with its exit code. */
function checkCommand(check: Check) {
  const { service, file, description } = check
  return defineCommand({
    meta: { description },
    async run({ rawArgs, data }) {
      const { environment }: Surroundings = data
      const child = spawn(process.execPath, [join(ROOT, 'services', service, file), ...rawArgs], {
        stdio: 'inherit',
        env: { ...environment, ...addressesFor(check, environment) },
      })
      const [code, signal] = (await once(child, 'exit')) as [number | null, NodeJS.Signals | null]
      if (signal !== null) throw new CommandError(`${file} was ended by ${signal} (${constants.signals[signal]})`)
      return code ?? 1
    },
  })
}

/** The addresses that a check needs. All other settings come from the environment of this process. */
function addressesFor({ service, reads }: Check, environment: NodeJS.ProcessEnv): NodeJS.ProcessEnv {
  return {
    WORKER_DATABASE_URL: workerServer(service, environment).url,
    WORKER_DATABASE_URL_FILE: '',
    ...(reads === 'kafka' && { KAFKA_BROKERS: kafkaOf(environment).brokers.join() }),
    ...(reads === 'catalog' && {
      CATALOG_WORKER_DATABASE_URL: workerServer('catalog', environment).url,
      CATALOG_WORKER_DATABASE_URL_FILE: '',
    }),
  }
}
