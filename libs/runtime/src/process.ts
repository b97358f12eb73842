import { setTimeout as pause } from 'node:timers/promises'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import type { z } from 'zod'
import type { Component } from './component.ts'
import type { ProcessConfig } from './config.ts'
import { ConfigurationError } from './configuration-error.ts'
import { createLogger, type Logger } from './logger.ts'
import { type Readiness, startOperationsServer } from './operations-server.ts'
import { measureProcess } from './process-metrics.ts'
import { readyWithin } from './ready-within.ts'
import { type Components, stopComponents } from './stop-components.ts'
import { startTelemetry } from './telemetry.ts'

/** The log of a process, and a function that stops it as a signal does, with exit code 1: for what a new one mends. */
export interface ProcessContext {
  readonly logger: Logger
  fatal(reason: string): void
}

/** A stop takes 25 s at most after `STOP_DELAY`: a webhook attempt takes up to 20 s and is recorded then. */
const STOP_WITHIN_MS = { work: 21_500, all: 24_500 } as const
/** When the garbage of loading is returned, unless the process has worked for more of that time than this part. */
const RELEASE = { afterMs: 5000, busyAtMost: 0.3 } as const
/** Node frees a slab of buffers with its last buffer: its default of 64 KiB keeps much memory for little. */
const SLAB_BYTES = 8 * 1024

/**
 * Runs a process. On SIGTERM or SIGINT it fails readiness, goes on for `STOP_DELAY`, since load balancers notice later,
 * stops the components in reverse order and exits 0 within 25 s, or 1 when one did not stop in time. On `fatal` it does
 * the same and exits 1. It exits 1 at once on `fatal` while it starts, when a component cannot start, and on a
 * rejection that nobody handles, unless `isHarmless` knows it.
 */
export async function runProcess(
  name: string,
  config: z.output<typeof ProcessConfig>,
  build: (context: ProcessContext) => Components | Promise<Components>,
  isHarmless: (error: unknown) => boolean = () => false,
): Promise<void> {
  Buffer.poolSize = SLAB_BYTES
  measureProcess(name, config.OTEL_RESOURCE_ATTRIBUTES['service.version'])
  const logger = createLogger(name, config.LOG_LEVEL)
  const exit = (reason: string, error?: unknown) => {
    logger.error({ err: error }, reason)
    process.exit(1)
  }
  process.on('unhandledRejection', (error) => {
    if (isHarmless(error)) logger.warn({ err: error }, 'a rejection that nobody waits for')
    else exit('unhandled rejection', error)
  })
  process.on('uncaughtException', (error) => exit('uncaught exception', error))

  let isDraining = false
  let isStopping = false
  const begun = { used: [] as Component[], accepting: [] as Component[] }
  const allBegun = () => [...begun.used, ...begun.accepting]
  let isStarted = false
  const starting = new Set<string>()
  const isReady = readyWithin()
  const readiness = async (): Promise<Readiness> => {
    if (isDraining) return { notReady: ['stopping'], remarks: [] }
    if (!isStarted) return { notReady: ['starting', ...starting], remarks: [] }
    const all = allBegun()
    const areReady = await Promise.all(all.map(isReady))
    const notReady = all.filter((_, index) => !areReady[index]).map(({ name }) => name)
    return { notReady, remarks: all.flatMap((component) => component.remark?.() ?? []) }
  }
  const begin = async (components: Components['used'], among: Component[]) => {
    for (const next of components) {
      if (isStopping) return
      const together = [next].flat()
      among.push(...together)
      const start = async (component: Component) => {
        starting.add(component.name)
        await component.start?.()
        starting.delete(component.name)
      }
      await Promise.all(together.map(start))
    }
  }
  const drain = async () => {
    for (const component of allBegun()) component.drain?.()
    await pause(config.STOP_DELAY)
  }
  const stop = async (signal: string, exitCode: number) => {
    if (isDraining) return
    isDraining = true
    // No client uses a process that has not been ready.
    if (isStarted) await drain()
    isStopping = true
    const startedAt = performance.now()
    const deadlines = { work: startedAt + STOP_WITHIN_MS.work, all: startedAt + STOP_WITHIN_MS.all }
    const isClean = await stopComponents(begun, deadlines, logger)
    logger.info({ signal, duration_ms: Math.round(performance.now() - startedAt) }, 'stopped')
    process.exit(isClean ? exitCode : 1)
  }
  process.on('SIGTERM', (signal) => stop(signal, 0))
  process.on('SIGINT', (signal) => stop(signal, 0))
  const fatal = (reason: string) => {
    if (!isStarted) exit(reason)
    if (isDraining) return
    logger.error(reason)
    void stop('none', 1)
  }

  try {
    // The first, so that it stops last and exports the spans of the stop.
    const telemetry = await startTelemetry(name, config, logger)
    if (telemetry) await begin([telemetry], begun.used)
    await startOperationsServer(config.HOST, config.OPS_PORT ?? config.PORT + 1, readiness)
    const { used, accepting } = await build({ logger, fatal })
    await begin(used, begun.used)
    await begin(accepting, begun.accepting)
    if (isStopping) return
    isStarted = true
    releaseMemoryLater()
    logger.info({ port: config.PORT, duration_ms: Math.round(process.uptime() * 1000) }, 'ready')
  } catch (error) {
    // A component that is stopped while it starts may throw.
    if (isStopping) return
    if (error instanceof ConfigurationError) exit(error.message)
    else exit('could not start', error)
  }
}

/** Not at once: the process takes up what has waited for it. With load V8 returns the garbage by itself. */
function releaseMemoryLater(): void {
  const before = performance.eventLoopUtilization()
  setTimeout(() => {
    if (performance.eventLoopUtilization(before).utilization < RELEASE.busyAtMost) releaseMemory()
  }, RELEASE.afterMs).unref()
}

/** Returns the garbage of loading, some 30 MB, which V8 would keep while there is no load. Takes about 50 ms. */
function releaseMemory(): void {
  setFlagsFromString('--expose-gc')
  const collect: (options: { type: 'major'; execution: 'sync'; flavor: 'last-resort' }) => void = runInNewContext('gc')
  collect({ type: 'major', execution: 'sync', flavor: 'last-resort' })
}
