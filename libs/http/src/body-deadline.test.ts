import { request as openRequest } from 'node:http'
import { type AddressInfo, connect, type Socket } from 'node:net'
import { text } from 'node:stream/consumers'
import { createLogger } from '@backoffice/runtime/logger.ts'
import { eventually } from '@backoffice/testing/eventually.ts'
import { whenDone } from '@backoffice/testing/when-done.ts'
import { afterAll, expect, it } from 'vitest'
import { createApp } from './app.ts'
import { uploadWithinMs } from './body-deadline.ts'

const app = createApp({ logger: createLogger('test', 'silent'), trustRequestId: false })
app.post('/hasty', { config: { bodyWithinMs: 50 } }, async ({ body }) => body)
app.post('/patient', { config: { bodyWithinMs: 60_000 } }, async ({ body }) => body)
await app.listen({ host: '127.0.0.1', port: 0 })
afterAll(() => app.close())
const { port } = app.server.address() as AddressInfo

const open = (path: string) =>
  openRequest({ port, method: 'POST', path, headers: { 'content-type': 'application/json' }, agent: false })

it('a body that is not complete in its time is bad_request, and the connection closed', async () => {
  const request = open('/hasty')
  request.write('{"a":')
  const answer = await new Promise<{ status: number | undefined; body: string }>((resolve, reject) => {
    request.on('error', reject)
    request.on('response', async (response) => resolve({ status: response.statusCode, body: await text(response) }))
  })
  expect(answer.status).toBe(400)
  expect(JSON.parse(answer.body).error).toMatchObject({
    code: 'bad_request',
    message: 'The request was not complete in time',
  })
})

it('its connection is closed although the client does not close it', async () => {
  const socket = connect({ port, host: '127.0.0.1', allowHalfOpen: true })
  whenDone(() => void socket.destroy())
  const connection = new Promise<Socket>((resolve) => app.server.once('connection', resolve))
  socket.write('POST /hasty HTTP/1.1\r\nHost: a\r\nContent-Type: application/json\r\nContent-Length: 9\r\n\r\n{')
  expect(await text(socket)).toMatch(/^HTTP\/1\.1 400 /)
  await eventually('it is closed', async () => (await connection).destroyed)
})

it('a body that is complete in its time is not in the way of what comes later on the connection', async () => {
  const [first, second] = [open('/hasty'), open('/patient')]
  const statusOf = (request: typeof first) =>
    new Promise((resolve) => request.on('response', (response) => resolve(response.resume().statusCode)))
  const statuses = [first, second].map(statusOf)
  first.end('{}')
  second.write('{')
  expect(await statuses[0]).toBe(200)
  second.end('}')
  expect(await statuses[1]).toBe(200)
})

it('gives a file as long as a line of 1 Mbit/s takes, and a minute', () => {
  expect(Math.round(uploadWithinMs(0) / 1000)).toBe(60)
  expect(Math.round(uploadWithinMs(20 * 1024 * 1024) / 1000)).toBe(220)
})
