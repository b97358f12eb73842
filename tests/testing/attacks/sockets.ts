import { connect, type Socket } from 'node:net'
import { setTimeout as pause } from 'node:timers/promises'
import { ATTACKER_ADDRESS } from './http-client.ts'

/** Between two connections once the burst of the rate limit is used up: a request of 90 a second. */
const EVERY_MS = 11
const BURST = 150

/**
 * Keeps `count` connections open. Each sends the same bytes; one that is closed is opened again, within the rate limit.
 * With `untilAnswered` an answer closes it, otherwise nobody reads what comes. Resolves when all are open, with what
 * closes them.
 */
export async function keepSocketsOpen(gateway: string, count: number, bytes: string, untilAnswered: boolean) {
  const { hostname, port } = new URL(gateway)
  const open = new Set<Socket>()
  let isOver = false
  let opened = 0
  const full = Promise.withResolvers<void>()

  function openOne(): void {
    const socket = connect({ host: hostname, port: Number(port), localAddress: ATTACKER_ADDRESS })
    open.add(socket)
    opened++
    if (untilAnswered) socket.on('data', () => socket.destroy())
    socket.on('connect', () => socket.write(bytes))
    socket.on('error', () => undefined)
    socket.on('close', () => open.delete(socket))
  }
  const run = async () => {
    while (!isOver) {
      if (open.size < count) openOne()
      if (opened >= count) full.resolve()
      if (opened > BURST || open.size >= count) await pause(EVERY_MS)
    }
  }
  const running = run()
  await full.promise
  return async () => {
    isOver = true
    await running
    for (const socket of open) socket.destroy()
  }
}
