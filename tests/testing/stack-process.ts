import { spawn } from 'node:child_process'
import { chmodSync, existsSync, mkdtempSync, rmSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { basename, join } from 'node:path'
import { createInterface } from 'node:readline'
import { eventually } from '@backoffice/testing/eventually.ts'
import { guardChild } from '@backoffice/testing/processes/guard.ts'
import { deleteTopics } from './delete-topics.ts'

interface BackingServices {
  readonly kafkaBrokers: readonly string[]
  readonly registryUrl: string
}

/** The processes of a stack, as `npm start` starts them. */
export interface RunningStack {
  /** The folder of its data, with stack.json. */
  readonly directory: string
  /** What it has printed of its processes: their ends and starts. */
  readonly printed: readonly string[]
  stop(): Promise<void>
}

/** The KAFKA_PREFIX of the stack in a folder, unless its test file sets another one. */
export const kafkaPrefixOf = (directory: string): string => `${basename(directory)}.`

/** The delays of webhooks in the shared stack, in milliseconds: the specification's, ten thousand times faster. */
export const RETRY_DELAYS = [0, 6, 30, 180, 720, 2160] as const

/** Starts a stack in a new folder and resolves when it is ready. `environment` overrides the settings of tests. */
export async function runStack(
  { kafkaBrokers, registryUrl }: BackingServices,
  environment: NodeJS.ProcessEnv = {},
): Promise<RunningStack> {
  const directory = mkdtempSync(join(tmpdir(), 'backoffice-stack-'))
  const prefix = environment.KAFKA_PREFIX ?? kafkaPrefixOf(directory)
  chmodSync(directory, 0o755)
  const child = spawn(process.execPath, ['infra/local/start.ts', '--headless'], {
    env: {
      ...process.env,
      STACK_DIR: directory,
      PORT: '0',
      DATABASE_URL: '',
      KAFKA_BROKERS: kafkaBrokers.join(','),
      SCHEMA_REGISTRY_URL: registryUrl,
      LOG_LEVEL: 'warn',
      ...environment,
      KAFKA_PREFIX: prefix,
    },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  guardChild(child, 'SIGTERM')
  const printed: string[] = []
  createInterface({ input: child.stdout }).on('line', (line) => printed.push(`${new Date().toISOString()} ${line}`))
  const complaints: string[] = []
  child.stderr.on('data', (chunk) => complaints.push(String(chunk)))
  const hasEnded = () => child.exitCode !== null || child.signalCode !== null
  const stop = async () => {
    child.kill('SIGTERM')
    await eventually('the stack has stopped', hasEnded, 60_000)
    rmSync(directory, { recursive: true, force: true })
    // A broker of its own ends with the stack.
    if (environment.KAFKA_BROKERS === undefined) await deleteTopics(kafkaBrokers, prefix)
  }
  const isReady = () => {
    if (hasEnded()) throw new Error(`the stack did not start: ${complaints.join('')}`)
    return existsSync(join(directory, 'stack.json'))
  }
  try {
    await eventually('the stack is ready', isReady, 180_000)
  } catch (error) {
    await stop()
    throw error
  }
  return { directory, printed, stop }
}

/** A server that starts one stack for its first request, and answers every request with the stack's folder. */
export async function shareStack(services: BackingServices): Promise<{ url: string; stop(): Promise<void> }> {
  let running: Promise<RunningStack> | undefined
  const server = createServer(async (_request, response) => {
    running ??= runStack(services, { WEBHOOK_RETRY_DELAYS: RETRY_DELAYS.map((delay) => `${delay}ms`).join(',') })
    try {
      response.end((await running).directory)
    } catch (error) {
      response.writeHead(503).end(String(error))
    }
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    async stop() {
      server.close()
      const started = await running?.catch(() => undefined)
      await started?.stop()
    },
  }
}
