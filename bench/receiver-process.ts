import { once } from 'node:events'
import { type AddressInfo, createServer, type Socket } from 'node:net'
import type { Arrival, Command } from './receiver.ts'

/**
 * A webhook receiver with little cost: it reads requests by their Content-Length and answers all of them with the same
 * bytes. It never answers a request to a path with `hang` in it, and one to a path with `after-50` in it after 50 ms.
 */
const ANSWER = Buffer.from('HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n')
const NOTHING = Buffer.alloc(0)

let count = 0
let isNoting = false
let arrivals: Arrival[] = []
const seen = new Set<string>()
let awaited = Number.POSITIVE_INFINITY

const reply = (answer: unknown) => process.send?.({ answer })

function receive(socket: Socket): void {
  let rest = NOTHING
  socket.on('error', () => undefined)
  socket.on('data', (chunk) => {
    rest = rest.length === 0 ? chunk : Buffer.concat([rest, chunk])
    for (;;) {
      const end = rest.indexOf('\r\n\r\n')
      if (end === -1) return
      const head = rest.toString('latin1', 0, end)
      const length = end + 4 + Number(/content-length: (\d+)/i.exec(head)?.[1])
      if (rest.length < length) return
      take(head, rest.subarray(end + 4, length), socket)
      rest = rest.subarray(length)
    }
  })
}

function take(head: string, body: Buffer, socket: Socket): void {
  const at = now()
  const path = head.slice(head.indexOf(' ') + 1, head.indexOf(' HTTP/'))
  if (path.includes('hang')) return
  const answer = () => {
    if (socket.writable) socket.write(ANSWER)
    if (isNoting) note(path, head, body, at)
    else count++
    if (count >= awaited) reached()
  }
  const afterMs = Number(/after-(\d+)/.exec(path)?.[1] ?? 0)
  if (afterMs === 0) {
    answer()
    return
  }
  const end = () => {
    clearTimeout(timer)
    socket.off('close', end)
    answer()
  }
  const timer = setTimeout(end, afterMs)
  socket.on('close', end)
}

function note(path: string, head: string, body: Buffer, at: number): void {
  const eventId = /webhook-id: (\S+)/i.exec(head)?.[1] ?? ''
  const resource = /"data":{"id":"([^"]+)"/.exec(body.toString('latin1'))?.[1] ?? ''
  arrivals.push({ path, eventId, resource, at, endedAt: now() })
  count = seen.add(`${path} ${eventId}`).size
}

const now = () => performance.timeOrigin + performance.now()

function reached(): void {
  awaited = Number.POSITIVE_INFINITY
  reply(count)
}

process.on('message', (command: Command) => {
  if (command.what === 'count') reply(count)
  if (command.what === 'arrivals') reply(arrivals)
  if (command.what === 'note') {
    isNoting = command.isNoting
    count = 0
    arrivals = []
    seen.clear()
    reply(true)
  }
  if (command.what === 'until') {
    awaited = command.count
    if (count >= awaited) reached()
  }
})
process.on('disconnect', () => process.exit())

const servers = Array.from({ length: Number(process.argv[2]) }, () =>
  createServer({ noDelay: true }, receive).listen({ port: 0, host: '127.0.0.1', backlog: 2048 }),
)
await Promise.all(servers.map((server) => once(server, 'listening')))
reply(servers.map((server) => `http://127.0.0.1:${(server.address() as AddressInfo).port}/`))
