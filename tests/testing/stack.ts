import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { TokenSigner } from '@backoffice/http/token-signer.ts'
import { internalSigningKey, stackSecrets } from '@backoffice/local/secrets.ts'
import type { StackDescription } from '@backoffice/local/stack-file.ts'
import { backingServices } from '@backoffice/testing/backing-services.ts'
import postgres from 'postgres'
import { afterAll, afterEach, inject } from 'vitest'
import { runStack } from './stack-process.ts'

declare module 'vitest' {
  interface ProvidedContext {
    /** Answers with the folder of the shared stack, which the first request starts; set by tests/global-setup.ts. */
    sharedStackUrl: string
  }
}

/** A running stack, as of `npm start`. It has its own PostgreSQL server, because it sets the passwords of the roles. */
export interface TestStack {
  /** Reads stack.json: a restarted service has a new pid. */
  description(): StackDescription
  /** Connects as a superuser to the stack's database. */
  readonly sql: postgres.Sql
  /** Signs tokens as the services of the stack do. */
  readonly signer: TokenSigner
  /** Holds the stack's secrets. */
  readonly directory: string
}

/** A stack of one test file, which may kill its services. */
export interface OwnStack extends TestStack {
  /** Sends SIGKILL to a service; the stack starts it again after a second. */
  kill(service: string): void
}

/** Lines of a stack that a failed test shows. */
const PRINTED = 30

/** The stack of all test files that need no settings, kill nothing, and work in workspaces of their own. */
export async function sharedStack(): Promise<TestStack> {
  const answer = await fetch(inject('sharedStackUrl'))
  const text = await answer.text()
  if (!answer.ok) throw new Error(text)
  return stackIn(text)
}

/**
 * Starts a stack for the calling test file and stops it after the file. It uses the tests' Kafka and registry, unless
 * `environment` names others.
 */
export async function startStack(environment: NodeJS.ProcessEnv = {}): Promise<OwnStack> {
  const running = await runStack(backingServices(), environment)
  afterAll(() => running.stop())
  afterEach(({ task }) => {
    if (task.result?.state === 'fail') console.log(running.printed.slice(-PRINTED).join('\n'))
  })
  return stackIn(running.directory)
}

function stackIn(directory: string): OwnStack {
  const description = (): StackDescription => JSON.parse(readFileSync(join(directory, 'stack.json'), 'utf8'))
  const sql = postgres(description().postgres, { max: 2, onnotice: () => undefined })
  afterAll(() => sql.end())
  return {
    description,
    sql,
    signer: new TokenSigner({ issuer: 'orders', ...internalSigningKey(stackSecrets(directory)) }),
    directory,
    kill(service) {
      const pid = description().services[service]?.pid
      if (pid === undefined) throw new Error(`the stack runs no ${service}`)
      process.kill(pid, 'SIGKILL')
    },
  }
}
