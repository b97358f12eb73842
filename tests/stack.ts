import { type ChildProcess, spawn } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import { chmodSync, existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { stackSecrets } from '@backoffice/local/secrets.ts'
import type { StackDescription } from '@backoffice/local/stack-file.ts'
import { eventually } from '@backoffice/testing/eventually.ts'
import { parts } from '@backoffice/testing/parts.ts'
import postgres from 'postgres'
import { afterAll } from 'vitest'

/** A running stack as `npm start` runs it, with a PostgreSQL of its own: the roles, whose passwords it sets, belong to the server. */
export interface TestStack {
  /** stack.json as it is now: a restarted service has another pid. */
  description(): StackDescription
  /** Connects as a superuser to the stack's database. */
  readonly sql: postgres.Sql
  /** Signs the tokens between gateway and services: base64 DER PKCS8. */
  readonly internalPrivateKey: string
  /** Where the stack keeps its secrets. */
  readonly directory: string
  /** Ends a service's process as kill -9 does; the stack starts it again after a second. */
  kill(service: string): void
}

/**
 * Starts the whole stack for the calling test file, with the parts the tests run against unless `environment` names
 * others, and stops it when the file is done.
 */
export async function startStack(environment: NodeJS.ProcessEnv = {}): Promise<TestStack> {
  const directory = mkdtempSync(join(tmpdir(), 'backoffice-stack-'))
  chmodSync(directory, 0o755)
  const { kafkaBrokers, registryUrl } = parts()
  const child = spawn(process.execPath, ['infra/local/start.ts', '--headless'], {
    env: {
      ...process.env,
      STACK_DIR: directory,
      PORT: '0',
      DATABASE_URL: '',
      KAFKA_BROKERS: kafkaBrokers.join(','),
      SCHEMA_REGISTRY_URL: registryUrl,
      KAFKA_PREFIX: `test-${randomUUID()}.`,
      LOG_LEVEL: 'warn',
      ...environment,
    },
    stdio: ['ignore', 'ignore', 'pipe'],
  })
  const complaints: string[] = []
  child.stderr?.on('data', (chunk) => complaints.push(String(chunk)))
  const file = join(directory, 'stack.json')
  afterAll(async () => {
    await ended(child)
    rmSync(directory, { recursive: true, force: true })
  })
  await eventually(
    'the stack is ready',
    () => {
      if (child.exitCode !== null) throw new Error(`the stack did not start: ${complaints.join('')}`)
      return existsSync(file)
    },
    60_000,
  )
  const description = (): StackDescription => JSON.parse(readFileSync(file, 'utf8'))
  const sql = postgres(description().postgres, { max: 2, onnotice: () => undefined })
  afterAll(() => sql.end())
  return {
    description,
    sql,
    internalPrivateKey: stackSecrets(directory).internalPrivateKey,
    directory,
    kill(service) {
      const pid = description().services[service]?.pid
      if (pid === undefined) throw new Error(`the stack runs no ${service}`)
      process.kill(pid, 'SIGKILL')
    },
  }
}

async function ended(child: ChildProcess): Promise<void> {
  child.kill('SIGTERM')
  await eventually('the stack has stopped', () => child.exitCode !== null || child.signalCode !== null, 30_000)
}
