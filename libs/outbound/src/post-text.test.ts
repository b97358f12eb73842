import { eventually } from '@backoffice/testing/eventually.ts'
import { startReceiver } from '@backoffice/testing/receiver.ts'
import { afterAll, expect, test } from 'vitest'
import { guardedAgent } from './guarded-agent.ts'
import type { Limits } from './post.ts'
import { postText } from './post-text.ts'

const agent = guardedAgent({ allowLoopback: true })
afterAll(() => agent.destroy())
const receiver = await startReceiver()

const send = (limits: Partial<Limits> = {}, to = agent) =>
  postText(to, { url: new URL(receiver.url), headers: { 'x-test': 'yes' }, body: 'é' }, { timeoutMs: 5000, ...limits })

test('a text arrives as UTF-8, and so does the answer', async () => {
  receiver.answerWith((response) => response.writeHead(200, { 'x-answer': 'yes' }).end('{"ü":1}'))
  const { answer, failure } = await send()
  expect(failure).toBeNull()
  expect(answer).toMatchObject({ status: 200, body: '{"ü":1}', isTruncated: false, headers: { 'x-answer': 'yes' } })
  expect(receiver.requests.at(-1)).toMatchObject({ body: Buffer.from('é') })
})

test('an answer is cut before the character that does not fit, and is not read further', async () => {
  receiver.answerWith((response) => response.writeHead(200).end(`abcé${'x'.repeat(1_000_000)}`))
  expect((await send({ keptBytes: 4 })).answer).toMatchObject({ body: 'abc', isTruncated: true })
})

test('more than 16 KiB are kept for those who ask for more', async () => {
  receiver.answerWith((response) => {
    response.writeHead(200).write('x'.repeat(10_000))
    response.end('x'.repeat(20_000))
  })
  expect((await send({ keptBytes: 30_000 })).answer).toMatchObject({ body: 'x'.repeat(30_000), isTruncated: false })
})

test('an answer that is no 2xx is a failure that comes with it', async () => {
  receiver.answerWith((response) => response.writeHead(409).end('not now'))
  const { answer, failure } = await send()
  expect(failure).toEqual({ class: 'status', message: 'answered 409' })
  expect(answer).toMatchObject({ status: 409, body: 'not now' })
})

test('an address that is not public is a failure without an answer (OP-70)', async () => {
  const everywhere = guardedAgent({ allowLoopback: false })
  expect(await send({}, everywhere)).toMatchObject({ answer: null, failure: { class: 'blocked' } })
  await everywhere.destroy()
})

test('an aborted request is a failure at once, and the other side sees its connection closed', async () => {
  const abort = new AbortController()
  let isOpen = false
  receiver.answerWith((response) => {
    isOpen = true
    response.on('close', () => {
      isOpen = false
    })
  })
  const sent = send({ signal: abort.signal })
  await eventually('it is under way', () => isOpen)
  abort.abort()
  expect(await sent).toEqual({ answer: null, failure: { class: 'connection', message: 'the request was aborted' } })
  await eventually('it is closed', () => !isOpen)
})

test('a request that is aborted before it starts is not sent', async () => {
  const before = receiver.requests.length
  expect((await send({ signal: AbortSignal.abort() })).failure?.message).toBe('the request was aborted')
  expect(receiver.requests).toHaveLength(before)
})
