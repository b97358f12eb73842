import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'

/** A receiver of traces that reads them and keeps none. */
const server = createServer((request, response) => {
  request.resume().once('end', () => response.end('{}'))
})
process.on('disconnect', () => process.exit())
await once(server.listen(0, '127.0.0.1'), 'listening')
process.send?.(`http://127.0.0.1:${(server.address() as AddressInfo).port}`)
