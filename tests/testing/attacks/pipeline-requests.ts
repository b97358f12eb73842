import { connect, type Socket } from 'node:net'
import type { Attack } from './attack.ts'
import { ATTACKER_ADDRESS } from './http-client.ts'

const CONNECTIONS = 8
/** Of each connection at a time: about as many as one read of the gateway holds. */
const PIPELINED = 600

/** Sends the same request many times over each connection without waiting for answers, and reads the answers. */
export const pipelineRequests =
  (path: string): Attack =>
  async ({ stack, attacker }) => {
    const { hostname, port, host } = new URL(stack.gateway)
    const bytes = `GET ${path} HTTP/1.1\r\nHost: ${host}\r\nAuthorization: Bearer ${attacker.keys[0]}\r\n\r\n`
    const sockets = new Set<Socket>()
    let isOver = false

    function open(): void {
      if (isOver) return
      const socket = connect({ host: hostname, port: Number(port), localAddress: ATTACKER_ADDRESS })
      sockets.add(socket)
      const send = () => void socket.write(bytes.repeat(PIPELINED))
      let answered = 0
      socket.on('connect', send)
      socket.on('data', (chunk) => {
        answered += chunk.toString('latin1').split('HTTP/1.1 ').length - 1
        if (answered < PIPELINED) return
        answered -= PIPELINED
        send()
      })
      socket.on('error', () => undefined)
      socket.on('close', () => {
        sockets.delete(socket)
        open()
      })
    }

    for (let count = 0; count < CONNECTIONS; count++) open()
    return async () => {
      isOver = true
      for (const socket of sockets) socket.destroy()
    }
  }
