import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Import, ImportReport } from '@backoffice/contracts/import.ts'
import type { Template } from '@backoffice/contracts/imports.ts'
import {
  consumersOf,
  deadLetterTopic,
  SERVICE_NAMES,
  SERVICES,
  type ServiceName,
  urlSetting,
} from '@backoffice/contracts/services.ts'
import type { Caller } from '@backoffice/http/internal-token.ts'
import { createTopics } from '@backoffice/messaging/kafka/create-topics.ts'
import { registeredSchemas } from '@backoffice/messaging/registry/testing/registered-schemas.ts'
import { backingServices } from '@backoffice/testing/backing-services.ts'
import { headersFor } from '@backoffice/testing/caller.ts'
import { testDatabase } from '@backoffice/testing/database.ts'
import { eventually } from '@backoffice/testing/eventually.ts'
import { aFile, FORM, form } from '@backoffice/testing/form.ts'
import { type ServiceProcess, startServiceProcess } from '@backoffice/testing/service-process.ts'
import { whenDone } from '@backoffice/testing/when-done.ts'

/** The states in which nothing goes on by itself. */
const AT_REST = ['VALIDATED', 'INVALID', 'COMPLETED', 'COMPLETED_WITH_ERRORS', 'FAILED', 'CANCELLED']

const NOBODY = 'http://127.0.0.1:9'

interface Answer<Body> {
  readonly status: number
  readonly body: Body
}

/**
 * Runs the service and the owners of templates as processes, with databases and topics of their own. An owner that is
 * not started has an address where nobody answers.
 */
export async function importsService(...owners: readonly Exclude<ServiceName, 'gateway' | 'imports'>[]) {
  const { kafkaBrokers, registryUrl } = backingServices()
  const prefix = `imports-${crypto.randomUUID()}.`
  const started: readonly ServiceName[] = ['imports', ...owners]
  await registeredSchemas()
  await createTopics(
    kafkaBrokers,
    topicsOf(['imports', 'catalog', 'collections', 'orders']).map((name) => ({ name, partitions: 2, config: {} })),
    { prefix, replicationFactor: 1 },
  )
  const directory = await mkdtemp(join(tmpdir(), 'imports-'))
  whenDone(() => rm(directory, { recursive: true, force: true }))
  const databases = new Map(await Promise.all(started.map(async (name) => [name, await testDatabase(name)] as const)))
  const databaseOf = (name: ServiceName) => {
    const database = databases.get(name)
    if (database === undefined) throw new Error(`${name} is not started`)
    return database
  }
  const urls = new Map<ServiceName, string>()
  const processes = new Map<ServiceName, ServiceProcess>()
  const start = async (name: ServiceName, settings: Record<string, string> = {}) => {
    const database = databaseOf(name)
    const running = await startServiceProcess(name, {
      DATABASE_URL: database.appUrl,
      WORKER_DATABASE_URL: database.workerUrl,
      KAFKA_BROKERS: kafkaBrokers.join(','),
      KAFKA_PREFIX: prefix,
      SCHEMA_REGISTRY_URL: registryUrl,
      ASSETS_DIRECTORY: join(directory, 'assets'),
      ASSETS_URL: 'http://127.0.0.1/assets',
      IMAGES_ALLOW_LOOPBACK: 'true',
      IMPORTS_DIRECTORY: join(directory, 'imports'),
      ...Object.fromEntries(SERVICE_NAMES.map((name) => [urlSetting(name), urls.get(name) ?? NOBODY])),
      ...settings,
    })
    await running.ready()
    return running
  }
  for (const name of [...owners, 'imports'] as const) {
    const running = await start(name)
    urls.set(name, running.url)
    processes.set(name, running)
  }

  const send = async <Body = { error: { code: string; message: string } }>(
    caller: Caller,
    method: string,
    path: string,
    body?: unknown,
    headers: Record<string, string> = {},
  ): Promise<Answer<Body>> => {
    const service = started.find((name) => SERVICES[name].routes.some((route) => path.startsWith(route))) ?? 'imports'
    const response = await fetch(`${urls.get(service)}${path}`, {
      method,
      headers: {
        ...(await headersFor(path)(caller, service)),
        ...(body !== undefined && { 'content-type': Buffer.isBuffer(body) ? FORM : 'application/json' }),
        ...headers,
      },
      ...(body !== undefined && { body: Buffer.isBuffer(body) ? new Uint8Array(body) : JSON.stringify(body) }),
    })
    const text = await response.text()
    const isJson = response.headers.get('content-type')?.startsWith('application/json')
    return { status: response.status, body: (isJson ? JSON.parse(text) : text) as Body }
  }
  const post = <Body = Import>(caller: Caller, template: Template, content: string | Buffer, fileName = 'rows.csv') =>
    send<Body>(
      caller,
      'POST',
      '/v1/imports',
      form({ name: 'template', content: template }, aFile(content, { fileName, type: 'text/csv' })),
    )
  const get = async (caller: Caller, id: string) => (await send<Import>(caller, 'GET', `/v1/imports/${id}`)).body
  const report = async (caller: Caller, id: string) =>
    (await send<ImportReport>(caller, 'GET', `/v1/imports/${id}/errors`)).body
  const atRest = (caller: Caller, id: string, withinMs?: number) =>
    eventually(
      `import ${id} rests`,
      async () => {
        const found = await get(caller, id)
        return AT_REST.includes(found.status) && found
      },
      withinMs,
    )
  return {
    directory,
    /** Put before the names of its topics. */
    prefix,
    /** The address of a service. */
    urlOf: (name: ServiceName) => urls.get(name) ?? '',
    /** Connects to a service's database as a superuser. */
    adminOf: (name: ServiceName) => databaseOf(name).admin,
    start,
    /** Kills the process of a service and starts another one at its address. */
    async restart(name: ServiceName): Promise<void> {
      await processes.get(name)?.end('SIGKILL')
      processes.set(name, await start(name, { PORT: new URL(urls.get(name) ?? '').port }))
    },
    send,
    post,
    get,
    report,
    atRest,
    /** Uploads a file, waits for its validation and returns the report. */
    async validated(caller: Caller, template: Template, content: string | Buffer): Promise<ImportReport> {
      const { status, body } = await post(caller, template, content)
      if (status !== 202) throw new Error(`the upload answered ${status} ${JSON.stringify(body)}`)
      await atRest(caller, body.id)
      return report(caller, body.id)
    },
    /** Uploads and applies a file, and returns the report in the end. */
    async applied(caller: Caller, template: Template, content: string | Buffer): Promise<ImportReport> {
      const { status, body } = await post(caller, template, content)
      if (status !== 202) throw new Error(`the upload answered ${status} ${JSON.stringify(body)}`)
      await atRest(caller, body.id)
      await send(caller, 'POST', `/v1/imports/${body.id}/start?skip_invalid=true`)
      await atRest(caller, body.id)
      return report(caller, body.id)
    },
  }
}

function topicsOf(services: readonly ServiceName[]): string[] {
  const all = services.flatMap((name) => [
    ...SERVICES[name].publishes,
    ...consumersOf(name).flatMap((consumer) => [...consumer.topics, deadLetterTopic(consumer.name)]),
  ])
  return [...new Set<string>(all)]
}
