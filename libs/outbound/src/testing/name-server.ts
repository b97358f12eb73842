import { createSocket } from 'node:dgram'
import { once } from 'node:events'
import { createServer } from 'node:net'
import { whenDone } from '@backoffice/testing/when-done.ts'
import { listeningOn } from './listening-on.ts'

/** What a name resolves to: questions for a `silent` type are never answered, unknown names do not exist. */
export interface Records {
  readonly A?: readonly string[]
  readonly AAAA?: readonly string[]
  readonly cname?: string
  readonly ttl?: number
  readonly silent?: readonly string[]
}

const TYPES: Readonly<Record<number, 'A' | 'AAAA'>> = { 1: 'A', 28: 'AAAA' }
const QUESTION_AT = 12
const TRUNCATED = 0x0200
const UDP_AT_MOST = 1232

/** A DNS server on loopback, over UDP and, for long answers, TCP. `zone` may be changed at any time. */
export async function startNameServer(zone: Record<string, Records>) {
  const queries: string[] = []
  const answer = (query: Buffer): Buffer | undefined => {
    const [name, endsAt] = nameIn(query)
    const type = TYPES[query.readUInt16BE(endsAt)] ?? 'A'
    queries.push(`${type} ${name}`)
    const records = zone[name]
    if (records?.silent?.includes(type)) return undefined
    const { ttl = 60, cname } = records ?? {}
    const alias = cname === undefined ? [] : [record(QUESTION, 5, ttl, labels(cname))]
    const owner = cname === undefined ? QUESTION : labels(cname)
    const held = (cname === undefined ? records : zone[cname])?.[type] ?? []
    const addresses = held.map((address) => record(owner, type === 'A' ? 1 : 28, ttl, bytesOf(address)))
    return message(query, endsAt + 4, records === undefined ? 3 : 0, [...alias, ...addresses])
  }
  const tcp = createServer((socket) => {
    socket
      .on('error', () => undefined)
      .on('data', (data) => {
        const full = answer(data.subarray(2))
        if (full) socket.write(Buffer.concat([uint16(full.length), full]))
      })
  })
  const port = await listeningOn(tcp)
  const udp = createSocket('udp4').on('message', (query, client) => {
    const full = answer(query)
    if (full === undefined) return
    const [, endsAt] = nameIn(query)
    const isTooLong = full.length > UDP_AT_MOST
    udp.send(isTooLong ? message(query, endsAt + 4, TRUNCATED, []) : full, client.port, client.address)
  })
  udp.bind(port, '127.0.0.1')
  await once(udp, 'listening')
  whenDone(() => void udp.close())
  return { address: `127.0.0.1:${port}`, queries }
}

function nameIn(query: Buffer): [name: string, endsAt: number] {
  const parts: string[] = []
  let at = QUESTION_AT
  for (let length = query[at] ?? 0; length > 0; length = query[at] ?? 0) {
    parts.push(query.toString('latin1', at + 1, at + 1 + length))
    at += 1 + length
  }
  return [parts.join('.').toLowerCase(), at + 1]
}

function message(query: Buffer, questionEndsAt: number, flags: number, answers: readonly Buffer[]): Buffer {
  const header = Buffer.concat([query.subarray(0, 2), ...[0x8180 | flags, 1, answers.length, 0, 0].map(uint16)])
  return Buffer.concat([header, query.subarray(QUESTION_AT, questionEndsAt), ...answers])
}

const record = (owner: Buffer, type: number, ttl: number, data: Buffer): Buffer =>
  Buffer.concat([owner, ...[type, 1, 0, ttl, data.length].map(uint16), data])

const labels = (name: string): Buffer =>
  Buffer.concat([
    ...name.split('.').map((part) => Buffer.from(`${String.fromCharCode(part.length)}${part}`)),
    Buffer.alloc(1),
  ])

const uint16 = (value: number): Buffer => Buffer.from([value >> 8, value & 255])

/** Points to the name in the question. */
const QUESTION = uint16(0xc000 | QUESTION_AT)

/** IPv6 addresses are written out in full. */
const bytesOf = (address: string): Buffer =>
  address.includes(':')
    ? Buffer.concat(address.split(':').map((group) => uint16(Number.parseInt(group, 16))))
    : Buffer.from(address.split('.').map(Number))
