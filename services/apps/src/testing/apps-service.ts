import type { App, Installation } from '@backoffice/contracts/app.ts'
import {
  consumersOf,
  deadLetterTopic,
  SERVICE_NAMES,
  SERVICES,
  type ServiceName,
  urlSetting,
} from '@backoffice/contracts/services.ts'
import { createTopics } from '@backoffice/messaging/kafka/create-topics.ts'
import { registeredSchemas } from '@backoffice/messaging/registry/testing/registered-schemas.ts'
import { backingServices } from '@backoffice/testing/backing-services.ts'
import { testDatabase } from '@backoffice/testing/database.ts'
import { eventually } from '@backoffice/testing/eventually.ts'
import { freePort } from '@backoffice/testing/processes/ports.ts'
import { type ServiceProcess, startServiceProcess } from '@backoffice/testing/service-process.ts'
import { kept, whenDone } from '@backoffice/testing/when-done.ts'
import { type PartnerApp, partnerApp } from './partner-app.ts'
import { testSecretKeys, tokenKeyEntries } from './test-keys.ts'

const STARTED = ['gateway', 'webhook-delivery', 'apps'] as const
type Started = (typeof STARTED)[number]
const ADMIN_TOKEN = 'operator-token-of-the-tests'
const NOBODY = 'http://127.0.0.1:9'

interface Answer<Body> {
  readonly status: number
  readonly body: Body
}

/** Runs apps, the gateway and webhook-delivery as processes, with databases and topics of their own. */
export async function appsService(settings: Record<string, string> = {}) {
  const { kafkaBrokers, registryUrl } = backingServices()
  const prefix = `apps-${crypto.randomUUID()}.`
  await registeredSchemas()
  const topics = topicsOf(STARTED).map((name) => ({ name, partitions: 1, config: {} }))
  await createTopics(kafkaBrokers, topics, { prefix, replicationFactor: 1 })
  const databases = Object.fromEntries(
    await Promise.all(STARTED.map(async (name) => [name, await testDatabase(name)] as const)),
  ) as Record<Started, Awaited<ReturnType<typeof testDatabase>>>
  const ports = Object.fromEntries(await Promise.all(STARTED.map(async (name) => [name, await freePort()] as const)))
  const urlOf = (name: Started) => `http://127.0.0.1:${ports[name]}`
  const processes = new Map<Started, ServiceProcess>()

  const start = async (name: Started, different: Record<string, string> = {}) => {
    const running = await startServiceProcess(name, {
      DATABASE_URL: databases[name].appUrl,
      WORKER_DATABASE_URL: databases[name].workerUrl,
      KAFKA_BROKERS: kafkaBrokers.join(','),
      KAFKA_PREFIX: prefix,
      SCHEMA_REGISTRY_URL: registryUrl,
      ADMIN_TOKEN,
      API_KEY_CHECK_KEYS: testSecretKeys,
      PUBLIC_URL: 'http://127.0.0.1',
      WEBHOOK_SECRET_KEYS: testSecretKeys,
      WEBHOOK_ALLOW_LOOPBACK: 'true',
      APP_SECRET_KEYS: testSecretKeys,
      APP_TOKEN_KEYS: tokenKeyEntries.join(','),
      APPS_ALLOW_LOOPBACK: 'true',
      PLATFORM_ISSUER: 'https://platform.test',
      ...Object.fromEntries(SERVICE_NAMES.map((name) => [urlSetting(name), NOBODY])),
      GATEWAY_URL: urlOf('gateway'),
      APPS_URL: urlOf('apps'),
      WEBHOOK_DELIVERY_URL: urlOf('webhook-delivery'),
      ...settings,
      ...different,
    })
    await running.ready()
    return running
  }
  const end = async (name: Started, signal: NodeJS.Signals = 'SIGKILL') => processes.get(name)?.end(signal)
  whenDone(() => Promise.all(STARTED.map((name) => end(name))))
  /** Starts the process of a service at its address. It ends with the file, also when a test starts it. */
  const startAgain = async (name: Started, different: Record<string, string> = {}) => {
    processes.set(name, await kept(() => start(name, { PORT: String(ports[name]), ...different })))
  }
  await Promise.all(STARTED.map((name) => startAgain(name)))

  const send = async <Body>(token: string, method: string, path: string, body?: unknown): Promise<Answer<Body>> => {
    const response = await fetch(`${urlOf('gateway')}${path}`, {
      method,
      headers: {
        authorization: `Bearer ${token}`,
        ...(body !== undefined && { 'content-type': 'application/json' }),
      },
      ...(body !== undefined && { body: JSON.stringify(body) }),
    })
    const text = await response.text()
    return { status: response.status, body: (text === '' ? undefined : JSON.parse(text)) as Body }
  }
  const admin = <Body = { error: { code: string; message: string } }>(method: string, path: string, body?: unknown) =>
    send<Body>(ADMIN_TOKEN, method, `/admin/v1${path}`, body)
  const installation = async (id: string) => (await admin<Installation>('GET', `/installations/${id}`)).body

  const aWorkspace = async () =>
    (await admin<{ id: string }>('POST', '/workspaces', { name: 'Shop', domain: 'shop.example' })).body.id
  /** Registers a partner's app. */
  const anApp = async (differences: Parameters<typeof partnerApp>[0] = {}) => {
    const partner = await partnerApp(differences)
    const { origin, manifest } = partner
    const { status, body } = await admin<App>('POST', '/apps', { origin, manifest })
    if (status !== 201) throw new Error(`registering answered ${status} ${JSON.stringify(body)}`)
    return { ...partner, id: body.id }
  }
  /** Asks for an app in a workspace and consents. */
  const consented = async ({ provider }: PartnerApp, workspace?: string) => {
    const at = workspace ?? (await aWorkspace())
    const { body } = await admin<Installation>('POST', `/workspaces/${at}/installations`, { provider })
    const { status } = await admin('POST', `/installations/${body.id}/consent`)
    if (status !== 200) throw new Error(`the consent answered ${status}`)
    return body
  }
  const inState = (id: string, state: Installation['state']) =>
    eventually(`installation ${id} is ${state}`, async () => {
      const found = await installation(id)
      return found.state === state && found
    })
  const purged = (id: string) =>
    eventually(`no call of ${id} waits`, async () => {
      const calls = await databases.apps.admin`select from call where installation_id = ${id}`
      return calls.length === 0
    })
  return {
    urlOf,
    /** Connects to a service's database as a superuser. */
    sqlOf: (name: Started) => databases[name].admin,
    /** Starts one more process of a service. */
    startReplica: start,
    startAgain,
    /** Ends the process of a service, and returns its exit code. */
    end,
    /** Everything that the process of a service has printed since its last start. */
    output: (name: Started) => processes.get(name)?.output() ?? '',
    pid: (name: Started) => processes.get(name)?.pid ?? 0,
    send,
    admin,
    installation,
    aWorkspace,
    anApp,
    consented,
    inState,
    /** Waits until no call to the app of an installation is outstanding. */
    purged,
    /** The keys of apps in a workspace, oldest first. */
    keys: (workspaceId: string) => databases.gateway.admin<AppKey[]>`
      select id, scopes, activated_at is not null as is_activated, revoked_at is not null as is_revoked
      from api_key where workspace_id = ${workspaceId} and kind = 'app' order by created_at, id`,
    endpoints: (workspaceId: string) => databases['webhook-delivery'].admin<
      { id: string; url: string; enabled_events: string[] }[]
    >`
      select id, url, enabled_events from endpoint where workspace_id = ${workspaceId} order by created_at, id`,
    /** The acts of apps on a target in the gateway's audit log, oldest first. */
    async acts(target: string): Promise<string[]> {
      const rows = await databases.gateway.admin<{ actor: string; action: string }[]>`
        select actor, action from audit where target = ${target} order by at, id`
      return rows.map(({ actor, action }) => `${actor} ${action}`)
    },
  }
}

interface AppKey {
  readonly id: string
  readonly scopes: string[]
  readonly is_activated: boolean
  readonly is_revoked: boolean
}

function topicsOf(services: readonly ServiceName[]): string[] {
  const all = services.flatMap((name) => [
    ...SERVICES[name].publishes,
    ...consumersOf(name).flatMap((consumer) => [...consumer.topics, deadLetterTopic(consumer.name)]),
  ])
  return [...new Set<string>(all)]
}
