import { once } from 'node:events'
import { request as openRequest } from 'node:http'
import { type AddressInfo, connect, type Socket } from 'node:net'
import { buffer, text } from 'node:stream/consumers'
import { setTimeout as pause } from 'node:timers/promises'
import { FairSlots } from '@backoffice/runtime/fair-slots.ts'
import { createLogger } from '@backoffice/runtime/logger.ts'
import { eventually } from '@backoffice/testing/eventually.ts'
import { aFile, FORM, form } from '@backoffice/testing/form.ts'
import { whenDone } from '@backoffice/testing/when-done.ts'
import { afterAll, expect, it, vi } from 'vitest'
import { createApp } from './app.ts'
import { uploadWithinMs } from './body-deadline.ts'
import { receiveForm } from './upload.ts'

const app = createApp({ logger: createLogger('test', 'silent'), trustRequestId: false })
app.post('/hasty', { config: { bodyWithinMs: 50 } }, async ({ body }) => body)
app.post('/patient', { config: { bodyWithinMs: 60_000 } }, async ({ body }) => body)
const uploads = new FairSlots({ slots: 1, share: 1, waiting: 0, waitMs: 0 }, () => new Error('no slot'))
for (const bodyIdleMs of [1000, 3000]) {
  const config = { takesFile: true, bodyWithinMs: 3_600_000, bodyIdleMs }
  app.post(`/upload/${bodyIdleMs}`, { config }, ({ raw }) =>
    uploads.run('workspace', async () => {
      const { file } = await receiveForm(raw, { member: 'file', maxBytes: 1024 ** 3 })
      return { bytes: (await buffer(file.content)).length }
    }),
  )
}
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

/** An upload whose file the test sends; it may stand still for so long. */
function openUpload(idleMs: number) {
  const request = openRequest({
    port,
    method: 'POST',
    path: `/upload/${idleMs}`,
    headers: { 'content-type': FORM },
    agent: false,
  })
  request.on('error', () => undefined)
  const [head = '', end = ''] = form(aFile('|')).toString().split('|')
  request.write(head)
  const answer = new Promise<string>((resolve) => {
    request.on('response', async (response) => resolve(`${response.statusCode} ${await text(response)}`))
  })
  return { request, answer, end }
}

it('an upload that stands still is bad_request, and its slot is free (OP-190)', async () => {
  const { request, answer } = openUpload(1000)
  whenDone(() => void request.destroy())
  await eventually('the upload has its slot', () => uploads.held() === 1)
  // A few bytes now and then are no progress.
  const trickle = setInterval(() => request.write('a'), 100)
  whenDone(() => clearInterval(trickle))
  await eventually('the slot is free', () => uploads.held() === 0)
  expect(await answer).toMatch(/^400 .*"The request was not complete in time"/)
})

it('an upload that goes on is taken, however long it takes', async () => {
  const { request, answer, end } = openUpload(3000)
  whenDone(() => void request.destroy())
  const chunk = Buffer.alloc(256 * 1024)
  let chunks = 0
  for (const until = performance.now() + 6000; performance.now() < until; chunks++) {
    request.write(chunk)
    await pause(50)
  }
  request.end(end)
  expect(await answer).toBe(`200 {"bytes":${chunks * chunk.length}}`)
})

it.each([
  ['a refused body', '/patient', 415],
  ['a request with a malformed path', '/%zz', 400],
])('what is left of %s may take 20 s after the answer', async (_what, path, status) => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] })
  whenDone(() => void vi.useRealTimers())
  const socket = connect({ port, host: '127.0.0.1' })
  const ended = text(socket)
  socket.write(`POST ${path} HTTP/1.1\r\nHost: a\r\nContent-Type: text/plain\r\nContent-Length: 9\r\n\r\n{`)
  await once(socket, 'data')
  await vi.advanceTimersByTimeAsync(20_000)
  vi.useRealTimers()
  expect(await ended).toMatch(new RegExp(`^HTTP/1\\.1 ${status} `))
})

it('gives a file as long as a line of 1 Mbit/s takes, and a minute', () => {
  expect(Math.round(uploadWithinMs(0) / 1000)).toBe(60)
  expect(Math.round(uploadWithinMs(20 * 1024 * 1024) / 1000)).toBe(220)
})
