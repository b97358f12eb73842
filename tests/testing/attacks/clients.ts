import { setTimeout as pause } from 'node:timers/promises'

/** Starts clients that send one request after the other, and returns what stops them after their last request. */
export function startClients(count: number, send: () => Promise<unknown>): () => Promise<void> {
  let isOver = false
  const client = async () => {
    while (!isOver) await send()
  }
  const clients = Promise.all(Array.from({ length: count }, client))
  return async () => {
    isOver = true
    await Promise.race([clients, pause(5_000, undefined, { ref: false })])
  }
}

const TICK_MS = 10

/** Starts requests at a fixed rate, whether or not those before are answered, and returns what stops them. */
export function startRate(perSecond: number, send: () => Promise<unknown>): () => Promise<void> {
  let due = 0
  const ticks = setInterval(() => {
    for (due += (perSecond * TICK_MS) / 1000; due >= 1; due--) void send()
  }, TICK_MS)
  return async () => clearInterval(ticks)
}
