import type { z } from 'zod'
import type { ProcessConfig } from './config.ts'
import { createLogger, type Logger } from './logger.ts'
import { startOperationsServer } from './operations-server.ts'
import { releaseMemory } from './release-memory.ts'

/** A component of a process: started in the order listed, stopped in the reverse order. */
export interface Component {
  readonly name: string
  start?(): Promise<void>
  /** Whether the component can do its work now; asked by the readiness probe. */
  isReady?(): Promise<boolean>
  stop?(): Promise<void>
}

/** The log of a process, and a function that ends it with exit code 1: for errors after which it must not continue. */
export interface ProcessContext {
  readonly logger: Logger
  fatal(reason: string, error?: unknown): void
}

const STOP_WITHIN_MS = 25_000
/** Node cuts small buffers out of slabs and frees a slab with its last buffer. Its default of 64 KiB keeps much memory for little. */
const SLAB_BYTES = 8 * 1024

/**
 * Runs a service's process: starts its components, serves its operations port, and on SIGTERM or SIGINT fails
 * readiness, stops the components in reverse order and exits 0 within 25 s. A component that cannot start ends the
 * process with exit code 1, as does a rejection that nobody handles, unless `isHarmless` knows it.
 */
export async function runProcess(
  name: string,
  config: z.output<typeof ProcessConfig>,
  build: (context: ProcessContext) => Component[] | Promise<Component[]>,
  isHarmless: (error: unknown) => boolean = () => false,
): Promise<void> {
  Buffer.poolSize = SLAB_BYTES
  const logger = createLogger(name, config.LOG_LEVEL)
  const fatal = (reason: string, error?: unknown) => {
    logger.error({ err: error }, reason)
    process.exit(1)
  }
  process.on('unhandledRejection', (error) => {
    if (isHarmless(error)) logger.warn({ err: error }, 'a rejection that nobody waits for')
    else fatal('unhandled rejection', error)
  })
  process.on('uncaughtException', (error) => fatal('uncaught exception', error))

  let isStopping = false
  const begun: Component[] = []
  let isStarted = false
  const notReady = async () => {
    if (isStopping) return ['stopping']
    if (!isStarted) return ['starting']
    const areReady = await Promise.all(begun.map(async (each) => (await each.isReady?.().catch(() => false)) ?? true))
    return begun.filter((_, index) => !areReady[index]).map(({ name }) => name)
  }
  const stop = async (signal: string) => {
    if (isStopping) return
    isStopping = true
    const startedAt = performance.now()
    setTimeout(() => fatal(`did not stop within ${STOP_WITHIN_MS} ms`), STOP_WITHIN_MS).unref()
    for (const component of begun.toReversed()) {
      await component
        .stop?.()
        .catch((error: unknown) => logger.error({ err: error, component: component.name }, 'could not stop'))
    }
    logger.info({ signal, duration_ms: Math.round(performance.now() - startedAt) }, 'stopped')
    process.exit(0)
  }
  process.on('SIGTERM', stop)
  process.on('SIGINT', stop)

  try {
    await startOperationsServer(config.HOST, config.OPS_PORT ?? config.PORT + 1, notReady)
    for (const component of await build({ logger, fatal })) {
      if (isStopping) return
      begun.push(component)
      await component.start?.()
    }
    isStarted = true
    releaseMemory()
    logger.info({ port: config.PORT, duration_ms: Math.round(process.uptime() * 1000) }, 'ready')
  } catch (error) {
    // A component that is stopped while it starts may throw.
    if (!isStopping) fatal('could not start', error)
  }
}
