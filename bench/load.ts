import { setTimeout as pause } from 'node:timers/promises'

/** The result of a run: requests per second, and latencies in milliseconds. */
export interface Load {
  readonly count: number
  readonly perSecond: number
  readonly p50: number
  readonly p99: number
}

/** The value below which the given share (0 to 1) of the numbers lies. */
export function percentile(values: readonly number[], share: number): number {
  const sorted = values.toSorted((a, b) => a - b)
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? Number.NaN
}

/** Sends `count` requests, `concurrency` at a time: each answer starts the next request. */
export async function closedLoop(
  count: number,
  concurrency: number,
  send: (index: number) => Promise<unknown>,
): Promise<Load> {
  const latencies: number[] = []
  let next = 0
  const startedAt = performance.now()
  const worker = async () => {
    while (next < count) {
      const index = next++
      const sentAt = performance.now()
      await send(index)
      latencies.push(performance.now() - sentAt)
    }
  }
  await Promise.all(Array.from({ length: concurrency }, worker))
  const seconds = (performance.now() - startedAt) / 1000
  return { count, perSecond: count / seconds, p50: percentile(latencies, 0.5), p99: percentile(latencies, 0.99) }
}

/** Sends `count` requests at a fixed rate, without waiting for answers. */
export async function openLoop(count: number, perSecond: number, send: (index: number) => Promise<unknown>) {
  const startedAt = performance.now()
  const sent: Promise<unknown>[] = []
  for (let index = 0; index < count; index++) {
    const wait = startedAt + (index * 1000) / perSecond - performance.now()
    if (wait > 0) await pause(wait)
    sent.push(send(index))
  }
  await Promise.all(sent)
}
