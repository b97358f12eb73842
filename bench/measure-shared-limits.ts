import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { startReplica } from '@backoffice/local/replica.ts'
import { freePort, isListening } from '@backoffice/testing/processes/ports.ts'
import { type Api, apiClient } from './api.ts'
import { closedLoop } from './load.ts'
import { aProduct } from './products.ts'
import type { BenchStack } from './stack.ts'
import type { Row } from './table.ts'

/** As many as the connections of a client. */
const CONCURRENCY = 64
const READS = 3000
const ROUNDS = 3

/** Small reads through a gateway that counts calls in its memory, and one that shares the count by a server. */
export async function measureSharedLimits(stack: BenchStack, key: string): Promise<Row[]> {
  const redisPort = await freePort()
  const redis = spawn('redis-server', ['--port', String(redisPort), '--save', ''], { stdio: 'ignore' })
  await once(redis, 'spawn')
  while (!(await isListening(redisPort)));
  const alone = await startGateway(stack, key)
  const sharing = await startGateway(stack, key, `redis://127.0.0.1:${redisPort}`)
  const { id } = await alone.api.post<{ id: string }>('/v1/products', aProduct(3))
  const perSecond = { alone: 0, sharing: 0 }
  const p50 = { alone: Number.POSITIVE_INFINITY, sharing: Number.POSITIVE_INFINITY }
  // In turn, and the best of each: the machine is not equally fast all the time.
  for (let round = 0; round <= ROUNDS; round++) {
    for (const [name, { api }] of Object.entries({ alone, sharing }) as ['alone' | 'sharing', { api: Api }][]) {
      const many = await closedLoop(READS, CONCURRENCY, () => api.get(`/v1/products/${id}`))
      const one = await closedLoop(READS / 10, 1, () => api.get(`/v1/products/${id}`))
      if (round === 0) continue
      perSecond[name] = Math.max(perSecond[name], many.perSecond)
      p50[name] = Math.min(p50[name], one.p50)
    }
  }
  for (const { api, process } of [alone, sharing]) {
    await api.close()
    await process.stop()
  }
  redis.kill()
  return [
    {
      name: `small reads with shared rate limits, ${CONCURRENCY} at a time`,
      measured: `${Math.round(perSecond.sharing)} /s`,
      floor: `${Math.round(perSecond.alone)} /s`,
      ratio: perSecond.sharing / perSecond.alone,
      bound: '≥ 0.9 × in memory',
    },
    {
      name: 'a small read with shared rate limits, one at a time, p50',
      measured: `${p50.sharing.toFixed(2)} ms`,
      floor: `${p50.alone.toFixed(2)} ms`,
      ratio: p50.sharing / p50.alone,
      bound: '≤ 1.2 × in memory',
    },
  ]
}

/** Starts a further gateway of the stack, which shares rate limits where `rateLimitUrl` is given. */
async function startGateway(stack: BenchStack, key: string, rateLimitUrl = '') {
  const settings = { RATE_LIMIT_URL: rateLimitUrl }
  const { url, process } = await startReplica('gateway', stack.directory, stack.now(), { settings })
  return { api: apiClient(url, { authorization: `Bearer ${key}` }), process }
}
