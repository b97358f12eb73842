import { Writable } from 'node:stream'
import { type Database, openDatabase } from '@backoffice/postgres/database.ts'
import { tokenPrivateKey } from '@backoffice/testing/caller.ts'
import { type TestDatabase, testDatabase } from '@backoffice/testing/database.ts'
import type { TestAnswer } from '@backoffice/testing/service-client.ts'
import { whenDone } from '@backoffice/testing/when-done.ts'
import { pino } from 'pino'
import { request } from 'undici'
import { createGatewayApp } from '../app.ts'
import { authenticator } from '../keys/authenticator.ts'
import { openUpstream, type UpstreamLimits } from '../proxy/upstream.ts'
import type { RateLimit } from '../rate-limit/token-bucket.ts'
import { type TestUpstream, testUpstream } from './test-upstream.ts'

export const ADMIN_TOKEN = 'operator-token-of-the-tests'

/** The error body, as a test reads it. */
export interface Refused {
  readonly error: { readonly code: string; readonly message: string; readonly request_id: string }
}

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

/** A gateway over a database and two services of the test's own, on a real port. */
export interface TestGateway {
  readonly url: string
  readonly database: TestDatabase
  readonly worker: Database
  readonly catalog: TestUpstream
  readonly collections: TestUpstream
  readonly webhooks: TestUpstream
  /** Lines it has logged. */
  readonly log: Record<string, unknown>[]
  /** Key look-ups it has made. */
  lookUps(): number
  /** Its clock, in Unix milliseconds: it stands still. */
  now(): number
  /** Moves its clock on. */
  passTime(ms: number): void
  admin<Body = Refused>(method: string, path: string, body?: unknown): Promise<TestAnswer<Body>>
  send<Body = Refused>(
    key: string | undefined,
    method: string,
    path: string,
    extras?: Extras,
  ): Promise<TestAnswer<Body>>
  aKey(scopes?: string[], sandbox?: boolean): Promise<TestKey>
}

interface TestGatewayOptions {
  readonly rateLimit?: RateLimit
  readonly limits?: UpstreamLimits
}

const GENEROUS: RateLimit = { perSecond: 1000, burst: 100_000 }

/** Starts a gateway for the calling test file. */
export async function testGateway({ rateLimit = GENEROUS, limits }: TestGatewayOptions = {}): Promise<TestGateway> {
  const database = await testDatabase('gateway')
  const [catalog, collections, webhooks] = await Promise.all([testUpstream(), testUpstream(), testUpstream()])
  let lookUps = 0
  const worker = openDatabase({
    url: database.workerUrl,
    applicationName: 'test worker',
    onStatement: (text) => {
      if (text.includes('key_hash =')) lookUps++
    },
  })
  const { log, logger } = logInMemory()
  let now = Date.now()
  const keys = authenticator(worker)
  const upstreams = {
    catalog: openUpstream('catalog', catalog.url, limits),
    collections: openUpstream('collections', collections.url, limits),
    'webhook-delivery': openUpstream('webhook-delivery', webhooks.url, limits),
  }
  const files = openUpstream('catalog', catalog.url, limits)
  const app = createGatewayApp({
    logger,
    db: database.db,
    worker,
    authenticator: keys,
    upstreams,
    files,
    adminToken: ADMIN_TOKEN,
    tokenKey: tokenPrivateKey,
    rateLimit,
    clock: () => new Date(now),
    checkResponses: true,
  })
  await keys.start?.()
  const url = await app.listen({ host: '127.0.0.1', port: 0 })
  whenDone(async () => {
    await app.close()
    await Promise.all([...Object.values(upstreams), files].map((upstream) => upstream.stop?.()))
    await worker.stop?.()
  })
  const admin = <Body>(method: string, path: string, body?: unknown) =>
    exchange<Body>(`${url}/admin/v1${path}`, method, { body, headers: { authorization: `Bearer ${ADMIN_TOKEN}` } })
  return {
    url,
    database,
    worker,
    catalog,
    collections,
    webhooks,
    log,
    lookUps: () => lookUps,
    now: () => now,
    passTime: (ms) => {
      now += ms
    },
    admin,
    send: (key, method, path, { body, headers = {} } = {}) =>
      exchange(`${url}${path}`, method, {
        body,
        headers: { ...(key !== undefined && { authorization: `Bearer ${key}` }), ...headers },
      }),
    async aKey(scopes = ['*'], sandbox = false) {
      const workspace = await admin<{ id: string; sandbox: { id: string } | null }>('POST', '/workspaces', {
        name: 'Test',
        sandbox,
      })
      const workspaceId = workspace.body.sandbox?.id ?? workspace.body.id
      const { body } = await admin<TestKey>('POST', `/workspaces/${workspaceId}/keys`, { name: 'Test', scopes })
      return { workspaceId, id: body.id, key: body.key }
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
