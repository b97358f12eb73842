import { execFileSync } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { testDatabase } from '@backoffice/testing/database.ts'
import { whenDone } from '@backoffice/testing/when-done.ts'
import { expect, test } from 'vitest'
import { type GatewayProcess, startGatewayProcess } from '../../testing/gateway-process.ts'
import { redisServer } from '../../testing/redis-server.ts'

const PASSWORD = 'password-of-the-limits'
const tls = certificate()
const redis = await redisServer({ password: PASSWORD, tls })
const { appUrl, workerUrl } = await testDatabase('gateway')
const settings = {
  DATABASE_URL: appUrl,
  WORKER_DATABASE_URL: workerUrl,
  API_KEY_CHECK_KEYS: `test:${randomBytes(32).toString('base64')}`,
  RATE_LIMIT_URL: redis.url,
  RATE_LIMIT_PER_MINUTE: '1',
  RATE_LIMIT_BURST: '10',
  NODE_EXTRA_CA_CERTS: tls.cert,
}
const [one, other] = await Promise.all([startGatewayProcess(settings), startGatewayProcess(settings)])

/** Makes a certificate for 127.0.0.1 that signs itself. */
function certificate() {
  const folder = mkdtempSync(join(tmpdir(), 'rate-limits-'))
  whenDone(() => rmSync(folder, { recursive: true }))
  const files = { cert: join(folder, 'cert.pem'), key: join(folder, 'key.pem') }
  const made = ['req', '-x509', '-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-nodes', '-days', '2']
  const named = ['-subj', '/CN=127.0.0.1', '-addext', 'subjectAltName=IP:127.0.0.1']
  execFileSync('openssl', [...made, ...named, '-keyout', files.key, '-out', files.cert], { stdio: 'ignore' })
  return files
}

async function admin<Body>(path: string, body: unknown): Promise<Body> {
  const answer = await fetch(`${one.url}/admin/v1${path}`, {
    method: 'POST',
    headers: { authorization: `Bearer ${one.adminToken}`, 'content-type': 'application/json' },
    body: JSON.stringify(body),
  })
  return (await answer.json()) as Body
}

async function aKey(): Promise<string> {
  const { id } = await admin<{ id: string }>('/workspaces', { name: 'Shop' })
  return (await admin<{ key: string }>(`/workspaces/${id}/keys`, { name: 'Key', scopes: ['*'] })).key
}

/** Sends so many calls to the gateways in turn: the calls that each answer leaves, and `no` for refusals. */
async function inTurn(key: string, count: number) {
  const left = []
  for (let sent = 0; sent < count; sent++) {
    const { url } = sent % 2 === 0 ? one : other
    const { status, headers } = await fetch(`${url}/v1/products`, { headers: { authorization: `Bearer ${key}` } })
    left.push(status === 429 ? 'no' : headers.get('x-ratelimit-remaining'))
  }
  return left
}

const metrics = async ({ opsUrl }: GatewayProcess) => (await fetch(`${opsUrl}/metrics`)).text()
const expectMetric = (gateway: GatewayProcess, metric: string, value: number) =>
  expect
    .poll(async () => new RegExp(`^${metric}(?:\\{.*\\})? (\\d+)$`, 'm').exec(await metrics(gateway))?.[1], {
      timeout: 20_000,
    })
    .toBe(String(value))

test('two gateways share limits over TLS, and are ready and limit calls while the server is away', async () => {
  for (const gateway of [one, other]) await expectMetric(gateway, 'rate_limit_gateways', 2)
  // Again with another key where a single answer of the server has taken more than 50 ms.
  await expect
    .poll(async () => inTurn(await aKey(), 12), { timeout: 20_000 })
    .toEqual(['9', '8', '7', '6', '5', '4', '3', '2', '1', '0', 'no', 'no'])

  const before = [one, other].map((gateway) => gateway.output().length)
  await redis.kill()
  const during = await aKey()
  expect(await inTurn(during, 12)).toEqual(['4', '4', '3', '3', '2', '2', '1', '1', '0', '0', 'no', 'no'])
  for (const gateway of [one, other]) {
    await expectMetric(gateway, 'rate_limit_server_up', 0)
    expect(await (await fetch(`${gateway.opsUrl}/readyz`)).text()).toBe('ready\n')
    await expect.poll(() => gateway.output()).toContain('the rate limit server is away')
  }

  const meanwhile = [one, other].map((gateway, index) => gateway.output().slice(before[index]))
  await redis.start()
  for (const gateway of [one, other]) await expectMetric(gateway, 'rate_limit_server_up', 1)
  expect(await inTurn(during, 2)).toEqual(['no', 'no'])
  await expect.poll(async () => inTurn(await aKey(), 3), { timeout: 20_000 }).toEqual(['9', '8', '7'])
  // Before and after it a single answer may be late as well.
  for (const lines of meanwhile) expect(lines.match(/the rate limit server is away/g)).toHaveLength(1)
  for (const gateway of [one, other]) expect(gateway.output()).not.toContain(PASSWORD)
  expect(await other.end('SIGTERM')).toBe(0)
})
