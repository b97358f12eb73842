import { randomUUID } from 'node:crypto'
import { Writable } from 'node:stream'
import type { ErrorBody } from '@backoffice/contracts/errors.ts'
import { ROUTED_SERVICES, type RoutedService, urlSetting } from '@backoffice/contracts/services.ts'
import type { AnyOperation } from '@backoffice/http/operation.ts'
import type { WriteLimits } from '@backoffice/http/write-deadline.ts'
import { type Database, openDatabase } from '@backoffice/postgres/database.ts'
import { SecretKeys } from '@backoffice/secrets/secret-box.ts'
import { testSigner, testTokenKey, testVerifier } from '@backoffice/testing/caller.ts'
import { type TestDatabase, testDatabase } from '@backoffice/testing/database.ts'
import type { TestAnswer } from '@backoffice/testing/service-client.ts'
import { whenDone } from '@backoffice/testing/when-done.ts'
import { pino } from 'pino'
import { request } from 'undici'
import type { z } from 'zod'
import type { IssuedKey } from '../admin/keys/key.ts'
import { type RequestLog, requestLog } from '../admin/requests/request-log.ts'
import type { Workspace } from '../admin/workspaces/create-workspace.ts'
import { createGatewayApp } from '../app.ts'
import { type KeyUses, keyUses } from '../credentials/key-uses.ts'
import { Authenticator } from '../credentials/keys/authenticator.ts'
import { type KeyFormat, keyFormat } from '../credentials/keys/key-format.ts'
import { LOOK_UP_CONCURRENCY } from '../credentials/keys/look-ups.ts'
import { operatorAuthenticator } from '../credentials/operators/operator-authenticator.ts'
import { newSecret } from '../credentials/secret-text.ts'
import { type RequestCounts, requestCounts } from '../public/proxy/request-counts.ts'
import { rateLimiter } from '../public/rate-limit/rate-limiter.ts'
import type { RateLimit } from '../public/rate-limit/token-bucket.ts'
import { AppsClient } from '../public/upstreams/apps-client.ts'
import { ServiceCalls } from '../public/upstreams/service-calls.ts'
import { componentsOf, openUpstreams, type UpstreamLimits } from '../public/upstreams/upstream.ts'
import { type TestUpstream, testUpstream } from './test-upstream.ts'

export const ADMIN_TOKEN = 'operator-token-of-the-tests'

/** The format of the test gateway's API keys. */
export const testKeys = keyFormat(SecretKeys.parse(`test:${Buffer.alloc(32, 5).toString('base64')}`))
/** An earlier key, as anybody can make it up. */
export const inventedKey = (): string => keyFormat(undefined).textsOf(randomUUID(), true, newSecret())[0]
/** A key that the platform made, and that is in no database. */
export const unknownKey = (): string => testKeys.textsOf(randomUUID(), true, newSecret())[0]

/** A workspace and one of its keys. */
export interface TestKey {
  readonly workspaceId: string
  readonly id: string
  readonly key: string
}

/** A request's extras: `body` is sent as JSON, or as it is when a string, a Buffer or a stream. */
interface Extras {
  readonly body?: unknown
  readonly headers?: Record<string, string | string[]>
}

/** A gateway over a database of the test's own, on a real port, with a test upstream in the place of each service. */
export interface TestGateway {
  readonly url: string
  readonly database: TestDatabase
  readonly worker: Database
  readonly services: Readonly<Record<RoutedService, TestUpstream>>
  readonly catalog: TestUpstream
  readonly imports: TestUpstream
  readonly webhooks: TestUpstream
  /** The lines of its log. */
  readonly log: Record<string, unknown>[]
  readonly uses: KeyUses
  readonly counts: RequestCounts
  readonly requests: RequestLog
  readonly authenticator: Authenticator
  /** The number of its statements that looked keys up, since the last `takeWorkerStatements`. */
  lookUps(): number
  /** Its statements across workspaces since the last call, but those for unverified keys. */
  takeWorkerStatements(): string[]
  /** Its look-ups of unverified keys since the last call. */
  takeUnverifiedStatements(): string[]
  /** The number of its readings of the operator tokens. */
  operatorReads(): number
  /** Its clock, in Unix milliseconds: it stands still. */
  now(): number
  /** Ends it before the test file is done. */
  close(): Promise<void>
  /** Moves its clock on. */
  passTime(ms: number): void
  /** Moves its clock on, and that of the database for the ends of credentials, without an announcement. */
  letTimePass(ms: number): Promise<void>
  /** Calls the admin API as the operator `bootstrap`, or with another token. */
  admin<Body = ErrorBody>(
    method: string,
    path: string,
    body?: unknown,
    token?: string,
    headers?: Record<string, string>,
  ): Promise<TestAnswer<Body>>
  send<Body = ErrorBody>(
    key: string | undefined,
    method: string,
    path: string,
    extras?: Extras,
  ): Promise<TestAnswer<Body>>
  aKey(scopes?: string[], sandbox?: boolean): Promise<TestKey>
  /** Another key of a workspace. */
  anotherKey(workspaceId: string): Promise<string>
}

interface TestGatewayOptions {
  /** How browsers reach it; over https unless given. */
  readonly publicUrl?: URL
  readonly rateLimit?: RateLimit
  readonly limits?: UpstreamLimits
  readonly format?: KeyFormat
  readonly trustedProxies?: readonly string[]
  /** The database of another gateway, of which this one is a replica. */
  readonly database?: TestDatabase
  /** For the lists of operators; the connections of the worker role unless given. */
  readonly lists?: Database
  readonly writeLimits?: WriteLimits
  /** What the gateway itself answers operators of its dead letters and its outbox; nothing unless given. */
  readonly own?: readonly AnyOperation[]
  /** The token of `bootstrap`; ADMIN_TOKEN unless given. */
  readonly adminToken?: string
  /** The built pages of the console. */
  readonly consoleFolder?: URL
}

const PUBLIC_URL = new URL('https://shop.example')
const GENEROUS: RateLimit = { perSecond: 1000, burst: 100_000 }

/** Starts a gateway for the calling test file. */
export async function testGateway({
  rateLimit = GENEROUS,
  limits,
  writeLimits,
  publicUrl = PUBLIC_URL,
  format = testKeys,
  trustedProxies = [],
  own = [],
  ...options
}: TestGatewayOptions = {}): Promise<TestGateway> {
  const database = options.database ?? (await testDatabase('gateway'))
  const services = Object.fromEntries(
    await Promise.all(ROUTED_SERVICES.map(async (name) => [name, await testUpstream()] as const)),
  ) as Record<RoutedService, TestUpstream>
  const statements: string[] = []
  const worker = openDatabase({
    url: database.workerUrl,
    applicationName: 'test worker',
    onStatement: (text) => void statements.push(text),
  })
  const unverifiedStatements: string[] = []
  const unverified = openDatabase({
    url: database.workerUrl,
    applicationName: 'test unverified keys',
    poolSize: LOOK_UP_CONCURRENCY,
    onStatement: (text) => void unverifiedStatements.push(text),
  })
  const { log, logger } = logInMemory()
  let now = Date.now()
  const uses = keyUses(worker, logger)
  const counts = requestCounts(worker, logger)
  const requests = requestLog(worker, logger)
  const operators = operatorAuthenticator(worker, options.adminToken ?? ADMIN_TOKEN, uses)
  const keys = new Authenticator({ format, worker, unverified, uses, operators, lookUpWithinMs: 60_000 })
  const urls = Object.fromEntries(ROUTED_SERVICES.map((name) => [urlSetting(name), services[name].url]))
  const upstreams = openUpstreams(
    urls as Parameters<typeof openUpstreams>[0],
    limits && { requests: limits, files: limits, events: limits, public: limits },
  )
  const signer = testSigner()
  const apps = new AppsClient(services.apps.url, signer)
  const calls = new ServiceCalls(urls as Parameters<typeof openUpstreams>[0], signer, own)
  const app = createGatewayApp({
    logger,
    db: database.db,
    worker,
    lists: options.lists ?? worker,
    authenticator: keys,
    uses,
    requests,
    format,
    trustedProxies,
    upstreams,
    apps,
    services: calls,
    operators,
    tokens: { verify: testVerifier('gateway'), signer, signingKeys: [testTokenKey] },
    publicUrl,
    assetsUrl: 'https://cdn.example/assets',
    takeCall: rateLimiter(rateLimit),
    standardLimit: rateLimit,
    noteRequest: counts.note,
    writeLimits,
    ...(options.consoleFolder && { consoleFolder: options.consoleFolder }),
    clock: () => new Date(now),
    checkResponses: true,
  })
  await keys.start?.()
  await operators.start?.()
  const url = await app.listen({ host: '127.0.0.1', port: 0 })
  whenDone(async () => {
    await app.close()
    await Promise.all([apps, calls, ...componentsOf(upstreams)].map((each) => each.stop?.()))
    await worker.stop?.()
    await unverified.stop?.()
  })
  const admin = <Body>(method: string, path: string, body?: unknown, token = ADMIN_TOKEN, headers = {}) =>
    exchange<Body>(`${url}/admin/v1${path}`, method, {
      body,
      headers: { ...headers, authorization: `Bearer ${token}` },
    })
  const issue = async (workspaceId: string, scopes: string[]) => {
    const { body } = await admin<IssuedKey>('POST', `/workspaces/${workspaceId}/keys`, { name: 'Test', scopes })
    return { id: body.id, key: body.key }
  }
  return {
    url,
    database,
    worker,
    services,
    catalog: services.catalog,
    imports: services.imports,
    webhooks: services['webhook-delivery'],
    log,
    uses,
    counts,
    requests,
    authenticator: keys,
    lookUps: () => statements.filter((text) => text.includes('credential.hash = any')).length,
    takeWorkerStatements: () => statements.splice(0),
    takeUnverifiedStatements: () => unverifiedStatements.splice(0),
    operatorReads: () => statements.filter((text) => text.includes('token_hash')).length,
    now: () => now,
    close: () => app.close(),
    passTime: (ms) => {
      now += ms
    },
    async letTimePass(ms) {
      await database.admin.begin(async (tx) => {
        await tx`set local session_replication_role = replica`
        const passed = tx`make_interval(secs => ${ms / 1000})`
        await tx`update api_key set created_at = created_at - ${passed}, expires_at = expires_at - ${passed}, revoked_at = revoked_at - ${passed}`
        await tx`
          update console_session set
            created_at = created_at - ${passed}, last_used_at = last_used_at - ${passed}, expires_at = expires_at - ${passed}`
        await tx`update operator_token set revoked_at = revoked_at - ${passed}`
        await tx`
          update support_session set created_at = created_at - ${passed}, expires_at = expires_at - ${passed}, ended_at = ended_at - ${passed}`
      })
      now += ms
    },
    admin,
    send: (key, method, path, { body, headers = {} } = {}) =>
      exchange(`${url}${path}`, method, {
        body,
        headers: { ...(key !== undefined && { authorization: `Bearer ${key}` }), ...headers },
      }),
    anotherKey: async (workspaceId) => (await issue(workspaceId, ['*'])).key,
    async aKey(scopes = ['*'], sandbox = false) {
      const workspace = await admin<z.output<typeof Workspace>>('POST', '/workspaces', {
        name: 'Test',
        sandbox,
      })
      const workspaceId = workspace.body.sandbox?.id ?? workspace.body.id
      return { workspaceId, ...(await issue(workspaceId, scopes)) }
    },
  }
}

async function exchange<Body>(url: string, method: string, { body, headers }: Extras): Promise<TestAnswer<Body>> {
  const isRaw = typeof body === 'string' || Buffer.isBuffer(body)
  const answer = await request(url, {
    method: method as 'GET',
    headers: { ...(body !== undefined && { 'content-type': 'application/json' }), ...headers },
    body: body === undefined ? null : isRaw ? body : JSON.stringify(body),
  })
  const text = await answer.body.text()
  return { status: answer.statusCode, headers: answer.headers, body: text === '' ? undefined : JSON.parse(text) }
}

function logInMemory() {
  const log: Record<string, unknown>[] = []
  const lines = new Writable({
    write(line, _encoding, done) {
      log.push(JSON.parse(String(line)))
      done()
    },
  })
  return { log, logger: pino({ base: null }, lines) }
}
