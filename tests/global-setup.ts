import { chmodSync, mkdtempSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { SERVICE_NAMES } from '@backoffice/contracts/services.ts'
import { COMPILE_CACHE, nodeFlags, programFile } from '@backoffice/docker/start-script.ts'
import { bundleServices } from '@backoffice/local/services.ts'
import { step } from '@backoffice/local/steps.ts'
import type {} from '@backoffice/testing/backing-services.ts'
import { serviceTemplate } from '@backoffice/testing/new-database.ts'
import { guardFolder } from '@backoffice/testing/processes/guard.ts'
import { embeddedBackingServices, environmentOr } from '@backoffice/testing/servers/backing-services.ts'
import { containersOr, isDockerThere } from '@backoffice/testing/servers/containers.ts'
import type { TestProject } from 'vitest/node'
import type {} from './testing/stack.ts'
import { shareStack } from './testing/stack-process.ts'

/**
 * Starts PostgreSQL, Kafka and the registry once for all test files, and prints each when it is ready. The returned
 * function removes all of it.
 */
export default async function setup(project: TestProject): Promise<() => Promise<void>> {
  const directory = mkdtempSync(join(tmpdir(), 'backoffice-test-'))
  guardFolder(directory)
  // PostgreSQL runs as another user if the tests run as root.
  chmodSync(directory, 0o755)
  // A crash of the machine may lose the data. Autovacuum looks at each of hundreds of databases.
  const postgresSettings = { fsync: 'off', full_page_writes: 'off', autovacuum_naptime: '60s' }
  const embedded = embeddedBackingServices({ directory, postgresSettings })
  // A run inside of another has the programs of that one.
  const given = process.env.PROGRAMS_DIRECTORY
  const programs = given ?? join(directory, 'programs')
  const starters = environmentOr((await isDockerThere()) ? containersOr(embedded) : embedded)
  const database = async () => {
    const postgres = await step('PostgreSQL', starters.postgres)
    const create = async (service: string) => [service, await serviceTemplate(postgres.address, service)] as const
    return { postgres, templates: await step('schemas', () => Promise.all(SERVICE_NAMES.map(create))) }
  }
  const [{ postgres, templates }, kafka, registry] = await Promise.all([
    database(),
    step('Kafka', starters.kafka),
    step('schema registry', starters.registry),
    given ?? step('programs of services', () => bundleServices(programs)),
  ])
  // The workers inherit it, and the stacks that they start.
  process.env.PROGRAMS_DIRECTORY = programs

  project.provide('postgresUrl', postgres.address)
  project.provide('templates', Object.fromEntries(templates.map(([service, { name }]) => [service, name])))
  const argsOf = SERVICE_NAMES.map((name) => [name, [...nodeFlags(name), join(programs, programFile(name))]])
  project.provide('programs', { argsOf: Object.fromEntries(argsOf), cache: join(programs, COMPILE_CACHE) })
  project.provide('kafkaBrokers', kafka.address)
  project.provide('registryUrl', registry.address)
  const shared = await shareStack({ kafkaBrokers: kafka.address, registryUrl: registry.address })
  project.provide('sharedStackUrl', shared.url)
  return async () => {
    await shared.stop()
    await Promise.all(templates.map(([, template]) => template.drop()))
    await Promise.all([postgres, kafka, registry].map((used) => used.stop()))
  }
}
