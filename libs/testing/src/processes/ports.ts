import { randomInt } from 'node:crypto'
import { createSocket, type Socket } from 'node:dgram'
import { connect, createServer } from 'node:net'
import { StackError } from './stack-error.ts'

// Below the ports of outgoing connections (from 32768 on Linux, 49152 elsewhere): a client that retries such a port
// while its server is down can connect to itself, and then the server cannot start again.
const LOWEST = 20_000
const END = 32_000
const ATTEMPTS = 100

/**
 * Returns a port from `lowest` to before `end` that is free on 127.0.0.1. The UDP port of the same number reserves it:
 * while this process lives, no other call in any process returns it. Throws StackError when no port is free.
 */
export async function freePort(lowest = LOWEST, end = END): Promise<number> {
  for (let attempt = 0; attempt < ATTEMPTS; attempt++) {
    const port = randomInt(lowest, end)
    const reservation = await reserve(port)
    if (reservation === undefined) continue
    if (await isFree(port, '127.0.0.1')) return port
    reservation.close()
  }
  throw new StackError(`no free port from ${lowest} to ${end - 1}: stop what occupies them`)
}

/** Binds this UDP port without keeping the process alive. Resolves with undefined when it is taken. */
function reserve(port: number): Promise<Socket | undefined> {
  return new Promise((resolve) => {
    const socket = createSocket('udp4').unref()
    socket.once('error', () => resolve(undefined))
    socket.bind({ port, address: '127.0.0.1', exclusive: true }, () => resolve(socket))
  })
}

/** Whether a server could listen on that address now. */
export const isFree = async (port: number, host: string): Promise<boolean> =>
  (await listenError(port, host)) === undefined

/** Throws StackError, with what to do, when a server could not listen on 127.0.0.1 at the port of PORT. */
export async function refuseUnusable(port: number): Promise<void> {
  const error = await listenError(port, '127.0.0.1')
  if (error !== undefined) throw new StackError(portProblem(port, error))
}

/** Says why a port cannot be listened on and what to do about it, in one line. */
export function portProblem(port: number, { code, message }: NodeJS.ErrnoException): string {
  const another = 'PORT=<port> npm start'
  if (code === 'EADDRINUSE') return `port ${port} is in use: stop what listens there, or choose another with ${another}`
  if (code === 'EACCES')
    return `this user has no right to listen on port ${port}: choose one from 1024 on with ${another}, or start as root`
  return `cannot listen on port ${port} (${message}): choose another with ${another}`
}

function listenError(port: number, host: string): Promise<NodeJS.ErrnoException | undefined> {
  return new Promise((resolve) => {
    const server = createServer()
    server.once('error', resolve)
    server.listen({ port, host, exclusive: true }, () => server.close(() => resolve(undefined)))
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

/** Whether an HTTP server answers a GET request with a 2xx status. */
export const answersOk = (url: string): Promise<boolean> =>
  fetch(url).then(
    ({ ok }) => ok,
    () => false,
  )

/** What an HTTP server answers to a GET request, or why it does not within two seconds. */
export const answerOf = (url: string): Promise<string> =>
  fetch(url, { signal: AbortSignal.timeout(2000) }).then(
    (answer) => answer.text(),
    ({ message, cause }: Error) => `${url}: ${cause instanceof Error ? cause.message : message}`,
  )
