import { connect, type Socket } from 'node:net'
import type { Attack } from './attack.ts'
import { ATTACKER_ADDRESS } from './http-client.ts'

/** There are so many connections for each path and each number of requests. */
const EACH = 2
/** Of a connection at a time: as many as may wait (OP-303), and more. The gateway closes those with more. */
const PIPELINED = [65, 600]
/** Each answer has it once, and no body. */
const ANSWER = '\r\nx-request-id: '

/** Sends many requests over each connection without waiting for answers, and reads the answers. */
export const pipelineRequests: Attack = async ({ stack, attacker }) => {
  const { hostname, port, host } = new URL(stack.gateway)
  const get = (path: string, header = '') => `GET ${path} HTTP/1.1\r\nHost: ${host}\r\n${header}\r\n`
  const reads = get('/v1/products?limit=100', `Authorization: Bearer ${attacker.keys[0]}\r\n`)
  const forAll = get('/docs')
  const sockets = new Set<Socket>()
  let isOver = false

  function open(request: string, pipelined: number): void {
    if (isOver) return
    const socket = connect({ host: hostname, port: Number(port), localAddress: ATTACKER_ADDRESS })
    sockets.add(socket)
    const send = () => void socket.write(request.repeat(pipelined))
    let [answered, rest] = [0, '']
    socket.on('connect', send)
    socket.on('data', (chunk) => {
      const text = rest + chunk.toString('latin1')
      answered += text.split(ANSWER).length - 1
      rest = text.slice(1 - ANSWER.length)
      if (answered < pipelined) return
      answered -= pipelined
      send()
    })
    socket.on('error', () => undefined)
    socket.on('close', () => {
      sockets.delete(socket)
      open(request, pipelined)
    })
  }

  for (const request of [reads, forAll])
    for (const pipelined of PIPELINED) for (let count = 0; count < EACH; count++) open(request, pipelined)
  return async () => {
    isOver = true
    for (const socket of sockets) socket.destroy()
  }
}
