import { eventually } from '@backoffice/testing/eventually.ts'
import { whenDone } from '@backoffice/testing/when-done.ts'
import { Agent, request } from 'undici'
import { describe, expect, test } from 'vitest'
import type { IssuedToken } from '../admin/operators/issue-token.ts'
import { ADMIN_TOKEN, testGateway } from '../testing/test-gateway.ts'
import { newToken } from './operators/token-format.ts'
import { wrongAttempts } from './wrong-attempts.ts'

const gateway = await testGateway()
const ID = '0198c2f1-a3b4-7c5d-8e9f-0123456789ab'

/** Sends tokens from an address of this machine that no other test has. */
let lastAddress = 1
function aClient() {
  const agent = new Agent({ localAddress: `127.0.0.${++lastAddress}` })
  whenDone(() => agent.close())
  return async (token: string) => {
    const { statusCode, headers, body } = await request(`${gateway.url}/admin/v1/workspaces`, {
      dispatcher: agent,
      headers: { authorization: `Bearer ${token}` },
    })
    return { status: statusCode, headers, body: (await body.json()) as { error: { code: string } } }
  }
}

describe('wrong tokens', () => {
  test('twenty are invalid_api_key, the next ones rate_limited with Retry-After, until time has passed', async () => {
    const send = aClient()
    for (let count = 0; count < 20; count++) expect((await send('nonsense')).status).toBe(401)
    const answer = await send('nonsense')
    expect(answer).toMatchObject({ status: 429, body: { error: { code: 'rate_limited' } } })
    expect(answer.headers['retry-after']).toBe('3')
    gateway.passTime(3_000)
    expect([(await send('nonsense')).status, (await send('nonsense')).status]).toEqual([401, 429])
  })

  test('many at once are no more than one after the other', async () => {
    const send = aClient()
    const answers = await Promise.all(Array.from({ length: 60 }, () => send(newToken(ID))))
    expect(answers.filter(({ status }) => status === 401)).toHaveLength(20)
    expect(answers.filter(({ status }) => status === 429)).toHaveLength(40)
  })

  test('a malformed one costs no query, and a well-formed one none once its address is refused', async () => {
    const send = aClient()
    await send('nonsense')
    const malformed = gateway.operatorReads()
    for (let count = 0; count < 19; count++) await send(`op_${'0'.repeat(32)}_${'0'.repeat(49)}`)
    expect(gateway.operatorReads()).toBe(malformed)
    for (let count = 0; count < 20; count++) expect((await send(newToken(ID))).status).toBe(429)
    // One reading at most, when the tokens in memory have become older than 5 s.
    expect(gateway.operatorReads() - malformed).toBeLessThanOrEqual(1)
  })

  test('from an address that is refused, a right named token still works and ADMIN_TOKEN does not', async () => {
    const send = aClient()
    const { body: operator } = await gateway.admin<IssuedToken>('POST', '/operators', { name: 'Ada' })
    for (let count = 0; count < 21; count++) await send('nonsense')
    await eventually('the new token is announced', async () => (await send(operator.token)).status === 200)
    expect((await send(ADMIN_TOKEN)).status).toBe(429)
    gateway.passTime(3_000)
    expect((await send(ADMIN_TOKEN)).status).toBe(200)
  })

  test('another address is not concerned, and right tokens are not counted', async () => {
    const [wrong, right] = [aClient(), aClient()]
    for (let count = 0; count < 21; count++) await wrong('nonsense')
    for (let count = 0; count < 30; count++) expect((await right(ADMIN_TOKEN)).status).toBe(200)
  })
})

describe('addresses', () => {
  test.each([
    ['2001:db8:0:1::1', '2001:db8:0:1:ffff::2', true],
    ['2001:db8:0:1::1', '2001:db8:0:2::1', false],
    ['192.0.2.1', '::ffff:192.0.2.1', true],
    ['192.0.2.1', '192.0.2.2', false],
  ])('%s and %s are one client: %s', (one, other, isOne) => {
    const wrong = wrongAttempts({ perSecond: 1, burst: 20 }, 'token')
    for (let count = 0; count < 20; count++) wrong.count(one, 0)
    expect(wrong.refusalOf(other, 0) !== undefined).toBe(isOne)
  })
})

test('an attempt that is taken back was not counted', () => {
  const wrong = wrongAttempts({ perSecond: 1, burst: 2 }, 'token')
  for (let count = 0; count < 10; count++) {
    wrong.count('192.0.2.1', 0)
    wrong.takeBack('192.0.2.1')
  }
  expect(wrong.refusalOf('192.0.2.1', 0)).toBeUndefined()
  for (let count = 0; count < 2; count++) wrong.count('192.0.2.1', 0)
  expect(wrong.refusalOf('192.0.2.1', 0)).toMatchObject({ code: 'rate_limited', headers: { 'retry-after': '1' } })
})
