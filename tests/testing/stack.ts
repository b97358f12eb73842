import { type ChildProcess, spawn } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import { chmodSync, existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { stackSecrets } from '@backoffice/local/secrets.ts'
import type { StackDescription } from '@backoffice/local/stack-file.ts'
import { backingServices } from '@backoffice/testing/backing-services.ts'
import { eventually } from '@backoffice/testing/eventually.ts'
import postgres from 'postgres'
import { afterAll } from 'vitest'

/** A running stack, as of `npm start`. It has its own PostgreSQL server, because it sets the passwords of the roles. */
export interface TestStack {
  /** Reads stack.json: a restarted service has a new pid. */
  description(): StackDescription
  /** Connects as a superuser to the stack's database. */
  readonly sql: postgres.Sql
  /** Signs the tokens between gateway and services; base64 DER PKCS8. */
  readonly internalPrivateKey: string
  /** Holds the stack's secrets. */
  readonly directory: string
  /** Sends SIGKILL to a service; the stack starts it again after a second. */
  kill(service: string): void
}

/**
 * Starts the whole stack for the calling test file and stops it after the file. It uses the tests' Kafka and registry,
 * unless `environment` names others.
 */
export async function startStack(environment: NodeJS.ProcessEnv = {}): Promise<TestStack> {
  const directory = mkdtempSync(join(tmpdir(), 'backoffice-stack-'))
  chmodSync(directory, 0o755)
  const { kafkaBrokers, registryUrl } = backingServices()
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
