import { connect, type Socket } from 'node:net'
import type { Attack } from './attack.ts'
import { ATTACKER_ADDRESS } from './http-client.ts'

const CONNECTIONS = 8
/** Of each connection at a time: about as many as one read of the gateway holds. */
const PIPELINED = 600
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

  function open(request: string): void {
    if (isOver) return
    const socket = connect({ host: hostname, port: Number(port), localAddress: ATTACKER_ADDRESS })
    sockets.add(socket)
    const send = () => void socket.write(request.repeat(PIPELINED))
    let [answered, rest] = [0, '']
    socket.on('connect', send)
    socket.on('data', (chunk) => {
      const text = rest + chunk.toString('latin1')
      answered += text.split(ANSWER).length - 1
      rest = text.slice(1 - ANSWER.length)
      if (answered < PIPELINED) return
      answered -= PIPELINED
      send()
    })
    socket.on('error', () => undefined)
    socket.on('close', () => {
      sockets.delete(socket)
      open(request)
    })
  }

  for (let count = 0; count < CONNECTIONS; count++) open(count % 2 === 0 ? reads : forAll)
  return async () => {
    isOver = true
    for (const socket of sockets) socket.destroy()
  }
}
