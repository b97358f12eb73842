import { subscribe } from 'node:diagnostics_channel'
import { type ClientRequest, type IncomingMessage, request as openRequest } from 'node:http'
import { eventually } from '@backoffice/testing/eventually.ts'
import { beforeEach, describe, expect, test } from 'vitest'
import { testGateway } from '../../testing/test-gateway.ts'
import { type Answer, echo, testUpstream } from '../../testing/test-upstream.ts'

const UNDER_WAY = 3
const SLOTS = { slots: UNDER_WAY + 1, share: 1, waiting: 0, waitMs: 1_000 }
const gateway = await testGateway({ limits: { connectMs: 2_000, answerMs: 2_000, slots: SLOTS } })
const { catalog } = gateway
const { key } = await gateway.aKey()
const send = (method = 'POST') => gateway.send(key, method, '/v1/products', method === 'GET' ? {} : { body: {} })

beforeEach(() => {
  catalog.answer = echo
  catalog.received.length = 0
})

const TAKEABLE = { slots: 4, share: 2, most: 2, waiting: 5, waitMs: 10_000, takeOverMs: 1 }
const shared = await testGateway({ limits: { connectMs: 2_000, answerMs: 20_000, slots: TAKEABLE } })

/** Opens a request, and takes nothing of its answer. A POST stays without its end. */
function opened(url: string, method: string, path: string, from: string): ClientRequest {
  const headers = { authorization: `Bearer ${from}`, 'content-type': 'multipart/form-data; boundary=x' }
  const request = openRequest(url + path, { method, headers, agent: false })
  request.on('error', () => undefined)
  request.on('response', (response) => response.on('error', () => undefined))
  if (method === 'POST') request.write('x')
  else request.end()
  return request
}

/** Sends a request and hangs up as soon as `until` holds. */
async function hangUp(url: string, withKey: string, until: () => boolean) {
  const request = openRequest(`${url}/v1/products`, { headers: { authorization: `Bearer ${withKey}` } })
  request.on('error', () => undefined)
  request.on('response', (response) => response.on('error', () => undefined).resume())
  request.end()
  await eventually('the request is under way', until)
  request.destroy()
}

describe('a service that does not answer', () => {
  test('in time is gateway_timeout', async () => {
    catalog.answer = () => undefined
    expect(await send()).toMatchObject({ status: 504, body: { error: { code: 'gateway_timeout' } } })
    expect(catalog.received.length).toBe(1)
  })

  test('to its end breaks the answer off, so that nobody takes it for whole', async () => {
    catalog.answer = (_request, response) =>
      void response.writeHead(200, { 'content-type': 'application/json' }).write('{')
    await expect(send('GET')).rejects.toThrow()
  })
})

describe('a service that goes away', () => {
  test('after it got a write is service_unavailable, and the write is not sent again', async () => {
    catalog.answer = (request) => void request.socket.destroy()
    const answer = await send('POST')
    expect(answer).toMatchObject({ status: 503, body: { error: { code: 'service_unavailable' } } })
    expect(answer.headers['retry-after']).toBe('1')
    expect(catalog.received.length).toBe(1)
  })

  test('after it got a read is asked again', async () => {
    catalog.answer = (request) => {
      catalog.answer = echo
      request.socket.destroy()
    }
    expect((await send('GET')).status).toBe(200)
    expect(catalog.received.length).toBe(2)
  })

  test('in the middle of its answer breaks the answer off', async () => {
    catalog.answer = (request, response) => {
      response.writeHead(200, { 'content-length': 100 }).write('{')
      setImmediate(() => request.socket.destroy())
    }
    await expect(send('GET')).rejects.toThrow()
    const logged = () => gateway.log.filter(({ path, status }) => path === '/v1/products' && status === 500)
    await eventually('it is logged as a failure of the service', () => logged().length > 0)
    expect(logged().at(-1)).toMatchObject({ level: 50, upstream: 'catalog', error_code: 'service_unavailable' })
    expect(logged().at(-1)).toMatchObject({ err: { code: 'UND_ERR_SOCKET' } })
  })

  test.each<[string, Answer]>([
    [
      'after the head of its answer',
      (_request, response) => {
        response.writeHead(201, { 'content-type': 'application/json' }).flushHeaders()
        setTimeout(() => response.destroy(), 50)
      },
    ],
    ['with garbage for an answer', (request) => void request.socket.end('garbage\r\n\r\n')],
  ])('%s may have done what was asked', async (_when, answer) => {
    catalog.answer = answer
    const refused = await send('POST')
    expect(refused).toMatchObject({ status: 503, headers: { 'retry-after': '1' } })
    expect(refused.body.error).toMatchObject({
      code: 'service_unavailable',
      message: expect.stringMatching(/may have done/),
    })
    expect(catalog.received.length).toBe(1)
  })
})

describe('a service that is not there', () => {
  test('is service_unavailable with Retry-After', async () => {
    const away = await testGateway({ limits: { connectMs: 500, answerMs: 300, slots: SLOTS } })
    await away.catalog.stop()
    const { key: other } = await away.aKey()
    const answer = await away.send(other, 'POST', '/v1/products', { body: {} })
    expect(answer).toMatchObject({ status: 503, body: { error: { code: 'service_unavailable' } } })
    expect(answer.headers['retry-after']).toBe('1')
    expect(answer.body.error.message).not.toMatch(/127\.0\.0\.1|ECONN/)
  })

  test('for a moment only, while it is restarted, is waited for with the whole request', async () => {
    const restarted = await testGateway()
    const { key: other } = await restarted.aKey()
    const port = Number(new URL(restarted.catalog.url).port)
    await restarted.catalog.stop()
    const refused = new Promise((resolve) => subscribe('undici:client:connectError', resolve))
    const answer = restarted.send<{ body: string }>(other, 'POST', '/v1/products', { body: { name: 'Shirt' } })
    await refused
    await testUpstream(port)
    expect(await answer).toMatchObject({ status: 200, body: { body: '{"name":"Shirt"}' } })
  })
})

describe('a client that leaves', () => {
  test.each([
    ['before the answer', () => undefined],
    ['in the middle of it', (response: { write(text: string): void }) => response.write('{')],
  ])('%s ends the work at the service, and is logged once as 499', async (_when, start) => {
    const patient = await testGateway()
    const { key: other } = await patient.aKey()
    let isClosed = false
    patient.catalog.answer = (_request, response) => {
      response.on('close', () => {
        isClosed = true
      })
      start(response)
    }
    const logged = () => patient.log.filter(({ path }) => path === '/v1/products')
    await hangUp(patient.url, other, () => patient.catalog.received.length === 1)
    await eventually('the service is told', () => isClosed)
    await eventually('it is logged', () => logged().length > 0)
    expect(logged()).toEqual([expect.objectContaining({ status: 499, upstream: 'catalog' })])
  })
})

describe('many requests', () => {
  test('a request that hangs holds no other up', async () => {
    let finish = () => {}
    catalog.answer = (_request, response) => {
      finish = () => void response.end('{}')
      catalog.answer = echo
    }
    const hanging = send('GET')
    await eventually('it hangs', () => catalog.received.length === 1)
    expect((await send('GET')).status).toBe(200)
    expect((await send('POST')).status).toBe(200)
    finish()
    expect((await hanging).status).toBe(200)
  })

  test('of one workspace beyond its slots are rate_limited, and those of another are answered (OP-02)', async () => {
    const other = await gateway.aKey()
    const finish: (() => void)[] = []
    catalog.answer = (_request, response) => void finish.push(() => response.end('{}'))
    const underWay = Array.from({ length: UNDER_WAY }, () => send('GET'))
    await eventually('all are under way', () => finish.length === UNDER_WAY)
    const refused = await send('GET')
    expect(refused).toMatchObject({ status: 429, headers: { 'retry-after': '1' } })
    expect(refused.body).toMatchObject({ error: { code: 'rate_limited' } })
    const answered = gateway.send(other.key, 'GET', '/v1/products')
    await eventually('the other is under way', () => finish.length === UNDER_WAY + 1)
    const tooMany = await gateway.send((await gateway.aKey()).key, 'GET', '/v1/products')
    expect(tooMany).toMatchObject({ status: 503, headers: { 'retry-after': '1' } })
    expect(tooMany.body).toMatchObject({ error: { code: 'service_unavailable' } })
    for (const end of finish) end()
    for (const { status } of await Promise.all([...underWay, answered])) expect(status).toBe(200)
  })

  test('wait for a moment, workspace by workspace in turn, unless their client leaves', async () => {
    const waiting = { connectMs: 2_000, answerMs: 20_000, slots: { slots: 2, share: 1, waiting: 5, waitMs: 20_000 } }
    const busy = await testGateway({ limits: waiting })
    const [one, two, three] = [await busy.aKey(), await busy.aKey(), await busy.aKey()]
    // Keys and tokens are known then, so that each request that has arrived holds a slot or waits for one.
    for (const { key: from } of [one, two, three]) await busy.send(from, 'GET', '/v1/products')
    const finish: (() => void)[] = []
    const served: (string | undefined)[] = []
    busy.catalog.answer = ({ url }, response) => {
      served.push(url)
      finish.push(() => response.end('{}'))
    }
    const arrived: (string | undefined)[] = []
    const port = Number(new URL(busy.url).port)
    subscribe('http.server.request.start', (message) => {
      const { request } = message as { request: IncomingMessage }
      if (request.socket.localPort === port) arrived.push(request.url)
    })
    const logged = (name: string) => busy.log.some(({ path }) => path === `/v1/products/${name}`)
    const hasArrived = (name: string) =>
      eventually(`${name} has arrived`, () => arrived.includes(`/v1/products/${name}`))
    const answers: Promise<{ status: number }>[] = []
    const get = async ({ key: from }: typeof one, name: string) => {
      answers.push(busy.send(from, 'GET', `/v1/products/${name}`))
      await hasArrived(name)
    }
    await get(one, '1')
    await get(two, '2')
    await eventually('all slots are taken', () => served.length === 2)
    const left = openRequest(`${busy.url}/v1/products/left`, { headers: { authorization: `Bearer ${one.key}` } })
    left.on('error', () => undefined).end()
    await hasArrived('left')
    await get(one, '1a')
    await get(one, '1b')
    await get(three, '3')
    left.destroy()
    await eventually('it has left', () => logged('left'))
    for (let ended = 0; ended < answers.length; ended++) {
      await eventually('the next is served', () => finish.length > ended)
      finish[ended]?.()
    }
    expect(served).toEqual(['1', '2', '1a', '3', '1b'].map((name) => `/v1/products/${name}`))
    for (const answer of answers) expect((await answer).status).toBe(200)
  })

  test.each<[string, (from: string) => ClientRequest]>([
    ['uploads that do not come', (from) => opened(shared.url, 'POST', '/v1/assets', from)],
    ['files that are not taken', (from) => opened(shared.url, 'GET', '/v1/imports/1/errors.csv', from)],
    ['answers that are not taken', (from) => opened(shared.url, 'GET', '/v1/products', from)],
  ])('%s give way to another workspace when they hold all places (OP-161)', async (what, open) => {
    let [begun, over] = [0, 0]
    for (const service of [shared.catalog, shared.imports]) {
      service.answer = (request, response) => {
        begun++
        response.once('close', () => over++)
        if (what.startsWith('uploads')) request.resume()
        else response.end(Buffer.alloc(64 * 1024 * 1024))
      }
    }
    const [one, two, three] = [await shared.aKey(), await shared.aKey(), await shared.aKey()]
    const held: ClientRequest[] = []
    for (const { key: from } of [one, one, two, two]) held.push(open(from))
    const refused = new Promise((resolve) => {
      for (const one of held) one.on('response', ({ statusCode }) => resolve(statusCode))
    })
    await eventually('all places are taken', () => begun === 4)
    for (const service of [shared.catalog, shared.imports]) service.answer = echo
    const served = open(three.key)
    const answer = new Promise((resolve) => served.on('response', ({ statusCode }) => resolve(statusCode)))
    served.end()
    expect(await answer).toBe(200)
    expect(await refused).toBe(what.startsWith('uploads') ? 429 : 200)
    await eventually('one ends at the service', () => over === 1)
    for (const one of [...held, served]) one.destroy()
    await eventually('all end', () => over === 4)
  })

  test('uploads that have arrived keep their places until the service answers (OP-161)', async () => {
    const kept = { ...TAKEABLE, waitMs: 2_000 }
    const busy = await testGateway({ limits: { connectMs: 2_000, answerMs: 20_000, slots: kept } })
    const finish: (() => void)[] = []
    busy.catalog.answer = (request, response) => {
      request.resume().once('end', () => finish.push(() => response.end('{}')))
    }
    const [one, two, three] = [await busy.aKey(), await busy.aKey(), await busy.aKey()]
    const upload = ({ key: from }: typeof one) =>
      busy.send(from, 'POST', '/v1/assets', {
        body: Buffer.alloc(100_000),
        headers: { 'content-type': 'multipart/form-data; boundary=x' },
      })
    const underWay = [one, one, two, two].map(upload)
    await eventually('all have arrived', () => finish.length === 4)
    expect((await upload(three)).status).toBe(503)
    for (const end of finish) end()
    for (const { status } of await Promise.all(underWay)) expect(status).toBe(200)
  })

  test('however requests end, their places are free again', async () => {
    const endings: (typeof catalog.answer)[] = [
      (_request, response) => void response.writeHead(204).end(),
      (_request, response) => void response.writeHead(200, { 'content-length': 5 }).end('12345'),
      (_request, response) => void response.writeHead(500).end(),
      (request) => void request.socket.destroy(),
      () => undefined,
    ]
    for (const ending of endings) {
      for (let count = 0; count < UNDER_WAY; count++) {
        catalog.answer = ending
        await send('POST')
      }
    }
    for (let count = 0; count < UNDER_WAY; count++) {
      catalog.answer = endings[1] ?? echo
      await gateway.send(key, 'HEAD', '/v1/products')
      await gateway.send(key, 'POST', '/v1/products', { body: Buffer.alloc(1024 * 1024 + 1) })
      catalog.answer = () => undefined
      const reached = catalog.received.length
      await hangUp(gateway.url, key, () => catalog.received.length > reached)
    }
    catalog.answer = echo
    await eventually('all places are free', async () => {
      const answers = await Promise.all(Array.from({ length: UNDER_WAY }, () => send('GET')))
      return answers.every(({ status }) => status === 200)
    })
  })
})
