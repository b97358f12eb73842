import { randomInt } from 'node:crypto'
import { connect, createServer } from 'node:net'
import { StackError } from './stack-error.ts'

// Below the range that outgoing connections draw from (32768 on Linux, 49152 elsewhere): a client that retries a port
// of that range while its server is down can connect to itself and so keep the server from coming back.
const LOWEST = 20_000
const HIGHEST = 32_000
const ATTEMPTS = 100

const handedOut = new Set<number>()

/** A port that is free on 127.0.0.1 and that this process has not handed out before. */
export async function freePort(): Promise<number> {
  for (let attempt = 0; attempt < ATTEMPTS; attempt++) {
    const port = randomInt(LOWEST, HIGHEST)
    if (handedOut.has(port) || !(await isFree(port, '127.0.0.1'))) continue
    handedOut.add(port)
    return port
  }
  throw new StackError(`no free port between ${LOWEST} and ${HIGHEST}: stop what occupies them`)
}

/** Whether a server could listen on that address now. */
export function isFree(port: number, host: string): Promise<boolean> {
  return new Promise((resolve) => {
    const server = createServer()
    server.once('error', () => resolve(false))
    server.listen({ port, host, exclusive: true }, () => server.close(() => resolve(true)))
  })
}

/** Whether something accepts connections on 127.0.0.1 at that port. */
export function isListening(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect({ port, host: '127.0.0.1' })
    socket.once('connect', () => resolve(true)).once('error', () => resolve(false))
    socket.once('connect', () => socket.destroy())
  })
}
