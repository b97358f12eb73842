import { readdirSync, readFileSync } from 'node:fs'
import { constants, monitorEventLoopDelay, PerformanceObserver } from 'node:perf_hooks'
import { durations, gauge, meter } from './metrics.ts'

/**
 * How often the delay of the event loop is sampled, in milliseconds: fifty times a second took a sixth of the time of
 * an idle process. The samples include this time.
 */
const SAMPLE_EVERY_MS = 100
const PERCENTILES = [50, 99, 100] as const

const GC_KINDS: Readonly<Record<number, string>> = {
  [constants.NODE_PERFORMANCE_GC_MAJOR]: 'major',
  [constants.NODE_PERFORMANCE_GC_MINOR]: 'minor',
  [constants.NODE_PERFORMANCE_GC_INCREMENTAL]: 'incremental',
  [constants.NODE_PERFORMANCE_GC_WEAKCB]: 'weakcb',
}

/** Measures this process from now on. Call it once. */
export function measureProcess(service: string, version: string | undefined): void {
  measureBuild(service, version)
  measureResources()
  measureEventLoop()
  measureCollections()
}

function measureBuild(service: string, version = 'unknown'): void {
  gauge('build_info', 'Always 1; the labels say what runs').record(1, { service, version, node: process.version })
  gauge('process_start_time_seconds', 'Unix time at which the process started', 's').record(
    Date.now() / 1000 - process.uptime(),
  )
}

const observed = (name: string, description: string, unit = '') =>
  meter.createObservableGauge(name, { description, unit })

function measureResources(): void {
  const cpu = meter.createObservableCounter('process_cpu_seconds', {
    description: 'Processor time used, by mode',
    unit: 's',
  })
  const resident = observed('process_resident_memory_bytes', 'Memory that the process holds in RAM', 'By')
  const heap = observed('nodejs_heap_bytes', 'Heap of V8 in use, its size, and memory outside of it (buffers)', 'By')
  const open = observed('process_open_fds', 'Open file descriptors')
  const most = observed('process_max_fds', 'Limit of open file descriptors')
  const limit = descriptorLimit()
  meter.addBatchObservableCallback(
    (result) => {
      const { user, system } = process.cpuUsage()
      result.observe(cpu, user / 1e6, { mode: 'user' })
      result.observe(cpu, system / 1e6, { mode: 'system' })
      const { rss, heapUsed, heapTotal, external } = process.memoryUsage()
      result.observe(resident, rss)
      for (const [state, bytes] of Object.entries({ used: heapUsed, total: heapTotal, external }))
        result.observe(heap, bytes, { state })
      if (limit === undefined) return
      result.observe(open, readdirSync('/proc/self/fd').length)
      result.observe(most, limit)
    },
    [cpu, resident, heap, open, most],
  )
}

/** Undefined on systems other than Linux. */
function descriptorLimit(): number | undefined {
  if (process.platform !== 'linux') return undefined
  const limit = Number(/^Max open files\s+(\d+)/m.exec(readFileSync('/proc/self/limits', 'utf8'))?.[1])
  return Number.isNaN(limit) ? undefined : limit
}

/** Each reading is of the time since the one before. */
function measureEventLoop(): void {
  const delay = observed(
    'nodejs_eventloop_delay_seconds',
    'Delay of the event loop since the reading before, by quantile; 1 is the longest',
    's',
  )
  const utilization = observed(
    'nodejs_eventloop_utilization_ratio',
    'Share of the time since the reading before in which the event loop was busy',
    '1',
  )
  const samples = monitorEventLoopDelay({ resolution: SAMPLE_EVERY_MS })
  samples.enable()
  let before = performance.eventLoopUtilization()
  meter.addBatchObservableCallback(
    (result) => {
      for (const percentile of PERCENTILES) {
        const seconds = samples.count === 0 ? 0 : samples.percentile(percentile) / 1e9 - SAMPLE_EVERY_MS / 1000
        result.observe(delay, Math.max(0, seconds), { quantile: String(percentile / 100) })
      }
      samples.reset()
      const now = performance.eventLoopUtilization()
      result.observe(utilization, performance.eventLoopUtilization(now, before).utilization)
      before = now
    },
    [delay, utilization],
  )
}

function measureCollections(): void {
  const duration = durations('nodejs_gc_duration_seconds', 'Pauses of garbage collection, by kind')
  const observer = new PerformanceObserver((list) => {
    for (const entry of list.getEntries()) {
      const { kind = 0 } = (entry as { detail?: { kind?: number } }).detail ?? {}
      duration.record(entry.duration / 1000, { kind: GC_KINDS[kind] ?? 'other' })
    }
  })
  observer.observe({ entryTypes: ['gc'] })
}
