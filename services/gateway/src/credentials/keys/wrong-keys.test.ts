import { SecretKeys } from '@backoffice/secrets/secret-box.ts'
import { eventually } from '@backoffice/testing/eventually.ts'
import { whenDone } from '@backoffice/testing/when-done.ts'
import { Agent, request } from 'undici'
import { describe, expect, test } from 'vitest'
import { inventedKey, testGateway, unknownKey } from '../../testing/test-gateway.ts'
import { newSecret } from '../secret-text.ts'
import { keyFormat } from './key-format.ts'

/** The address of a proxy that the gateway trusts. */
const PROXY = '127.0.0.2'
const gateway = await testGateway({ trustedProxies: [PROXY] })
/** A replica from before there were check keys: the keys that it makes end with a CRC32. */
const earlier = await testGateway({ database: gateway.database, format: keyFormat(undefined) })

const foreign = keyFormat(SecretKeys.parse(`other:${Buffer.alloc(32, 6).toString('base64')}`))
/** A key with the check of another installation. */
const foreignKey = () => foreign.textsOf(crypto.randomUUID(), true, newSecret())[0]

let clients = 0
/** An address that no other test has. */
const anAddress = () => `198.51.${Math.floor(++clients / 250)}.${clients % 250}`

/** Sends requests from an address of this machine, with `X-Forwarded-For`. */
function senderAt(localAddress: string) {
  const agent = new Agent({ localAddress })
  whenDone(() => agent.close())
  return async (key: string, forwardedFor?: string, method: 'GET' | 'POST' = 'GET') => {
    const { statusCode, headers, body } = await request(`${gateway.url}/v1/products`, {
      dispatcher: agent,
      method,
      headers: { authorization: `Bearer ${key}`, ...(forwardedFor && { 'x-forwarded-for': forwardedFor }) },
      ...(method === 'POST' && { body: '{}' }),
    })
    return { status: statusCode, headers, body: (await body.json()) as { error: { code: string; request_id: string } } }
  }
}

const throughProxy = senderAt(PROXY)
const statusOf = async (key: string, address: string) => (await throughProxy(key, address)).status

/** Sends wrong keys until the address has sent too many. */
async function exhaust(address: string) {
  for (let count = 0; count < 100; count++) await throughProxy('sk_live_x', address)
}

/** The look-ups of keys since the last call, by the connections that they went over. */
function takeLookUps() {
  const count = (statements: string[]) => statements.filter((text) => text.includes('credential.hash = any')).length
  return { ofKeys: count(gateway.takeWorkerStatements()), ofUnverified: count(gateway.takeUnverifiedStatements()) }
}

describe('who made a key', () => {
  test('a check that another secret made is invalid_api_key without any statement', async () => {
    takeLookUps()
    const answer = await throughProxy(foreignKey(), anAddress())
    expect(answer).toMatchObject({ status: 401, body: { error: { code: 'invalid_api_key' } } })
    expect(takeLookUps()).toEqual({ ofKeys: 0, ofUnverified: 0 })
  })

  test('three hundred invented keys of the earlier format use no connection of other keys', async () => {
    const addresses = [anAddress(), anAddress(), anAddress()]
    takeLookUps()
    const sent = addresses.flatMap((address) => Array.from({ length: 100 }, () => statusOf(inventedKey(), address)))
    expect(new Set(await Promise.all(sent))).toEqual(new Set([401]))
    const { ofKeys, ofUnverified } = takeLookUps()
    expect([ofKeys, ofUnverified > 0]).toEqual([0, true])
  })

  test('an earlier key stays valid, and is looked up over the connections of other keys once it was found', async () => {
    const { key } = await earlier.aKey()
    const address = anAddress()
    takeLookUps()
    expect(await statusOf(key, address)).toBe(200)
    expect(takeLookUps()).toEqual({ ofKeys: 0, ofUnverified: 1 })
    gateway.passTime(5_000)
    expect(await statusOf(key, address)).toBe(200)
    expect(takeLookUps()).toEqual({ ofKeys: 1, ofUnverified: 0 })
  })

  test('an earlier key that was never seen waits for a turn of each of forty addresses that invent others', async () => {
    const { key } = await earlier.aKey()
    const authenticate = (key: string, address: string) =>
      gateway.authenticator.authenticate({ text: key, address }, new Date(gateway.now()))
    let answered = 0
    const invented = Array.from({ length: 40 }, anAddress).flatMap((address) =>
      Array.from({ length: 15 }, () => authenticate(inventedKey(), address).finally(() => answered++)),
    )
    const refused = Promise.allSettled(invented)
    expect(await authenticate(key, anAddress())).toBeDefined()
    // Fifty are under way when it comes, then forty have their turn before it; others are answered beside it.
    expect(answered).toBeLessThan(invented.length / 2)
    expect((await refused).every(({ status }) => status === 'rejected')).toBe(true)
  })

  test('a replica without check keys accepts the keys of one that has them', async () => {
    const { key } = await gateway.aKey()
    expect((await earlier.send(key, 'GET', '/v1/products')).status).toBe(200)
    expect((await earlier.send(unknownKey(), 'GET', '/v1/products')).status).toBe(401)
  })
})

describe('too many wrong keys from one address', () => {
  test.each([
    ['malformed', () => 'sk_live_x'],
    ['with a foreign check', foreignKey],
    ['of the earlier format', inventedKey],
    ['of a deleted workspace', unknownKey],
  ])('a hundred keys %s are invalid_api_key, the next is rate_limited with Retry-After', async (_what, wrongKey) => {
    const address = anAddress()
    const answers = await Promise.all(Array.from({ length: 103 }, () => throughProxy(wrongKey(), address)))
    expect(answers.filter(({ status }) => status === 401)).toHaveLength(100)
    const refused = answers.filter(({ status }) => status === 429)
    expect(refused).toHaveLength(3)
    expect(refused[0]).toMatchObject({
      headers: { 'retry-after': '1', 'content-type': 'application/json; charset=utf-8' },
      body: { error: { code: 'rate_limited', request_id: refused[0]?.headers['x-request-id'] } },
    })
    gateway.passTime(1_000)
    expect(await statusOf(wrongKey(), address)).toBe(401)
  })

  test('one key sent again and again counts each time', async () => {
    const [address, key] = [anAddress(), inventedKey()]
    for (let count = 0; count < 100; count++) expect(await statusOf(key, address)).toBe(401)
    expect(await statusOf(key, address)).toBe(429)
  })

  test('costs no statement any more', async () => {
    const address = anAddress()
    await exhaust(address)
    takeLookUps()
    for (let count = 0; count < 20; count++) expect(await statusOf(inventedKey(), address)).toBe(429)
    expect(takeLookUps()).toEqual({ ofKeys: 0, ofUnverified: 0 })
  })

  test('keys that work are not counted, and work from there all the same', async () => {
    const address = anAddress()
    const [known, fresh, old] = [await gateway.aKey(), await gateway.aKey(), await earlier.aKey()]
    for (let count = 0; count < 110; count++) expect(await statusOf(known.key, address)).toBe(200)
    expect(await statusOf(old.key, address)).toBe(200)
    await exhaust(address)
    expect(await statusOf(foreignKey(), address)).toBe(429)
    for (const { key } of [known, fresh, old]) expect(await statusOf(key, address)).toBe(200)
  })

  test('a hundred and more earlier keys that work are not counted either', async () => {
    const keys = await Promise.all(Array.from({ length: 8 }, () => earlier.aKey()))
    const address = anAddress()
    for (let round = 0; round < 15; round++) {
      await gateway.database.admin`select pg_notify('gateway_workspace_changed', ${keys[0]?.workspaceId ?? ''})`
      for (const { key } of keys) expect(await statusOf(key, address)).toBe(200)
    }
    expect(await statusOf('sk_live_x', address)).toBe(401)
  })

  test('an IPv6 address stands for its /64', async () => {
    await exhaust('2001:db8:0:1::1')
    expect(await statusOf('sk_live_x', '2001:db8:0:1:ffff::2')).toBe(429)
    expect(await statusOf('sk_live_x', '2001:db8:0:2::1')).toBe(401)
  })

  test('has a few lines in the log, which count the requests, and not a line for each', async () => {
    const address = anAddress()
    await exhaust(address)
    await Promise.all(Array.from({ length: 300 }, () => throughProxy('sk_live_x', address)))
    const linesOf = () => gateway.log.filter((line) => line.client_ip === address && line.status === 429)
    // A line about another address may have been written just before.
    await eventually('a line', async () => (await throughProxy('sk_live_x', address)) && linesOf().length > 0)
    const lines = linesOf()
    expect(lines.length).toBeLessThan(150)
    const refused = lines.map((line) => Number(line.refused)).reduce((sum, one) => sum + one, 0)
    expect(refused).toBeGreaterThan(0)
    expect(lines[0]).toMatchObject({ error_code: 'rate_limited', method: 'GET' })
  })

  test('has the headers of every refusal, and closes the connection only where a body was not read', async () => {
    const address = anAddress()
    await exhaust(address)
    const [without, withBody] = [
      await throughProxy(inventedKey(), address),
      await throughProxy(inventedKey(), address, 'POST'),
    ]
    expect([without.headers.connection, withBody.headers.connection]).toEqual(['keep-alive', 'close'])
  })
})

describe("the client's address", () => {
  const addressOf = (requestId: unknown) => gateway.log.find((line) => line.request_id === requestId)?.client_ip

  test.each([
    ['of the connection', '127.0.0.3', undefined, '127.0.0.3'],
    ['of the connection, whatever an unknown sender names', '127.0.0.3', '203.0.113.7', '127.0.0.3'],
    ['that a trusted proxy names', PROXY, '203.0.113.8', '203.0.113.8'],
    ['that the trusted proxy added, not one that the client sent', PROXY, '10.0.0.1, 203.0.113.9', '203.0.113.9'],
    ['of the trusted proxy when it names none', PROXY, undefined, PROXY],
  ])('in the log is the one %s', async (_what, from, forwardedFor, expected) => {
    const { key } = await gateway.aKey()
    const { headers } = await senderAt(from)(key, forwardedFor)
    await expect.poll(() => addressOf(headers['x-request-id'])).toBe(expected)
  })

  test('is that of operators as well: wrong tokens through one proxy are counted apart', async () => {
    const agent = new Agent({ localAddress: PROXY })
    whenDone(() => agent.close())
    const statusWith = async (address: string) => {
      const headers = { authorization: 'Bearer nonsense', 'x-forwarded-for': address }
      const { statusCode, body } = await request(`${gateway.url}/admin/v1/workspaces`, { dispatcher: agent, headers })
      await body.dump()
      return statusCode
    }
    const [one, other] = [anAddress(), anAddress()]
    for (let count = 0; count < 20; count++) await statusWith(one)
    expect([await statusWith(one), await statusWith(other)]).toEqual([429, 401])
  })
})
