import type { z } from 'zod'
import type { ProcessConfig } from './config.ts'
import { createLogger, type Logger } from './logger.ts'
import { metricsText } from './metrics.ts'
import { startOperationsServer } from './operations-server.ts'
import { releaseMemory } from './release-memory.ts'

/** A part of a process: started in the order listed, stopped in the reverse order. */
export interface Part {
  readonly name: string
  start?(): Promise<void>
  /** Whether the part can do its work now; asked by the readiness probe. */
  isReady?(): Promise<boolean>
  stop?(): Promise<void>
}

/** What a process gives its parts: the log, and a way to end the process when going on would do harm. */
export interface ProcessContext {
  readonly logger: Logger
  fatal(reason: string, error?: unknown): void
}

const STOP_WITHIN_MS = 25_000
/** Small buffers are cut out of slabs, each kept as long as any of them is: 64 KiB, unless they are to be smaller. */
const SLAB_BYTES = 8 * 1024

/**
 * Runs a service's process: starts its parts, serves its operations port, and on SIGTERM or SIGINT fails readiness,
 * stops the parts in reverse order and exits 0 within 25 s. A part that cannot start ends the process with exit code 1.
 */
export async function runProcess(
  name: string,
  config: z.output<typeof ProcessConfig>,
  build: (context: ProcessContext) => Part[] | Promise<Part[]>,
): Promise<void> {
  Buffer.poolSize = SLAB_BYTES
  const logger = createLogger(name, config.LOG_LEVEL)
  const fatal = (reason: string, error?: unknown) => {
    logger.error({ err: error }, reason)
    process.exit(1)
  }
  process.on('unhandledRejection', (error) => fatal('unhandled rejection', error))
  process.on('uncaughtException', (error) => fatal('uncaught exception', error))

  let isStopping = false
  let parts: Part[] = []
  const begun: Part[] = []
  let isStarted = false
  const notReady = async () => {
    if (isStopping) return ['stopping']
    if (!isStarted) return ['starting']
    const checks = await Promise.all(
      parts.map(async (part) => (((await part.isReady?.().catch(() => false)) ?? true) ? '' : part.name)),
    )
    return checks.filter((part) => part !== '')
  }
  const stop = async (signal: string) => {
    if (isStopping) return
    isStopping = true
    const startedAt = performance.now()
    setTimeout(() => fatal(`did not stop within ${STOP_WITHIN_MS} ms`), STOP_WITHIN_MS).unref()
    for (const part of begun.toReversed()) {
      await part.stop?.().catch((error: unknown) => logger.error({ err: error, part: part.name }, 'could not stop'))
    }
    logger.info({ signal, duration_ms: Math.round(performance.now() - startedAt) }, 'stopped')
    process.exit(0)
  }
  process.on('SIGTERM', stop)
  process.on('SIGINT', stop)

  try {
    await startOperationsServer(config.HOST, config.OPS_PORT ?? config.PORT + 1, {
      notReady,
      metrics: metricsText,
    })
    parts = await build({ logger, fatal })
    for (const part of parts) {
      if (isStopping) return
      begun.push(part)
      await part.start?.()
    }
    isStarted = true
    releaseMemory()
    logger.info({ port: config.PORT, duration_ms: Math.round(process.uptime() * 1000) }, 'ready')
  } catch (error) {
    // A part that is stopped while it starts may well say so.
    if (!isStopping) fatal('could not start', error)
  }
}
