import { spawn } from 'node:child_process'
import { randomInt } from 'node:crypto'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import { ADVISORY_LOCKS } from '@backoffice/postgres/advisory-locks.ts'
import { createLogger } from '@backoffice/runtime/logger.ts'
import { testDatabase } from '@backoffice/testing/database.ts'
import { eventually } from '@backoffice/testing/eventually.ts'
import { startMovingAddress } from '@backoffice/testing/moving-address.ts'
import { guardChild } from '@backoffice/testing/processes/guard.ts'
import { whenDone } from '@backoffice/testing/when-done.ts'
import { expect, test, vi } from 'vitest'
import { notifyDue } from './notify-due.ts'
import { Ownership } from './ownership.ts'
import { SHARDS } from './shard-of.ts'

const { admin, workerUrl } = await testDatabase('webhook-delivery')
const OWNERS = 'webhook-delivery shards'
/** Without an answer for so long a process has stopped; PostgreSQL ends its session after twice that. */
const SHORT_MS = 1500

/** An id in a shard. */
const inShard = (shard: number) => `0198c1a2-0000-7000-8000-0000000000${shard.toString(16).padStart(2, '0')}`

interface Holder {
  readonly ownership: Ownership
  losses(): number
}

/** Who has which shard by what the processes are told. */
const holders = new Map<number, Holder>()
const collisions: Promise<readonly number[]>[] = []

/**
 * The shards that a process may send to, although another has taken them. Another may hear first that a session has
 * ended, so the process is asked once it has heard of what PostgreSQL did before.
 */
async function stillOf({ ownership, losses }: Holder, taken: readonly number[]): Promise<readonly number[]> {
  if (!ownership.isSure) return []
  const before = losses()
  await ownership.heard().catch(() => undefined)
  return losses() === before ? taken : []
}

const collided = async () => (await Promise.all(collisions)).flat()

/** A process that owns shards. */
async function aProcess({
  leaving = Promise.resolve(),
  taking = Promise.resolve(),
  through = (url: string) => url,
  answerWithinMs = 5000,
  beatMs = 500,
} = {}) {
  const own = new Set<number>()
  const heard: string[] = []
  let losses = 0
  const processNumber = randomInt(2 ** 31)
  const died: number[] = []
  const letGo = (shards: readonly number[]) => {
    for (const shard of shards) own.delete(shard)
    for (const shard of shards) if (holders.get(shard) === self) holders.delete(shard)
  }
  const ownership = new Ownership({
    server: { url: through(workerUrl) },
    logger: createLogger('test', 'silent'),
    onTaking: () => taking,
    answerWithinMs,
    beatMs,
    onTaken(shards) {
      for (const [holder, taken] of Map.groupBy(shards, (shard) => holders.get(shard)))
        if (holder) collisions.push(stillOf(holder, taken))
      for (const shard of shards) {
        own.add(shard)
        holders.set(shard, self)
      }
    },
    async onLeaving(shards) {
      await leaving
      letGo(shards)
    },
    onLost(shards) {
      losses++
      letGo(shards)
    },
    onDue: ({ endpointIds }) => void heard.push(...endpointIds),
    onRedacted: () => undefined,
    processNumber,
    onDied: (processNumbers) => void died.push(...processNumbers),
  })
  const self: Holder = { ownership, losses: () => losses }
  // An answer that comes late ends the session, and the start with it. The next one opens another.
  await eventually('it has started', () =>
    ownership.start().then(
      () => true,
      () => false,
    ),
  )
  let isStopped = false
  const stop = async () => {
    if (isStopped) return
    isStopped = true
    await ownership.stop()
  }
  whenDone(stop)
  return { ...self, own, heard, died, processNumber, stop }
}

const restsWith = (processes: readonly { own: ReadonlySet<number> }[], part: number) =>
  eventually(`${processes.length} processes own all shards, ${part} at most each`, () => {
    const sizes = processes.map(({ own }) => own.size)
    return Math.max(...sizes) === part && sizes.reduce((sum, size) => sum + size, 0) === SHARDS
  })

const kill = (count = 10) => admin`
  select pg_terminate_backend(pid) from (
    select pid from pg_stat_activity where application_name = ${OWNERS} and datname = current_database()
    order by backend_start limit ${count}
  ) as owner`

test('a process alone owns all shards at once; two and three share them equally; those that stop hand them over', async () => {
  const one = await aProcess()
  expect(one.own.size).toBe(SHARDS)
  const two = await aProcess()
  await restsWith([one, two], 64)
  const three = await aProcess()
  await restsWith([one, two, three], 43)
  for (const [shard, holder] of [...holders].slice(0, 5)) {
    const owners = [one, two, three].filter(({ ownership }) => ownership.owns(inShard(shard)))
    expect(owners).toHaveLength(1)
    expect(owners[0]?.own.has(shard)).toBe(holder !== undefined)
  }
  await two.stop()
  expect([two.own.size, two.ownership.owns(inShard(0))]).toEqual([0, false])
  await restsWith([one, three], 64)
  await one.stop()
  await restsWith([three], SHARDS)
  expect([await collided(), three.losses()]).toEqual([[], 0])
  await three.stop()
})

test('processes that come and leave say so: the others share with them without a look of their own', async () => {
  const rarely = { answerWithinMs: 300_000, beatMs: 120_000 }
  const one = await aProcess(rarely)
  const two = await aProcess(rarely)
  await restsWith([one, two], 64)
  await two.stop()
  await restsWith([one], SHARDS)
  expect(one.died).toEqual([])
  await one.stop()
})

test('a shard is free for another only when what is in flight in it was noted', async () => {
  const { promise, resolve } = Promise.withResolvers<void>()
  const leaving = await aProcess({ leaving: promise })
  const next = await aProcess()
  await eventually('it is about to hand over', () => leaving.ownership.own.length === 64)
  const handedOver = Array.from({ length: SHARDS }, (_, shard) => shard).filter(
    (shard) => !leaving.ownership.owns(inShard(shard)),
  )
  expect(handedOver).toHaveLength(64)
  await admin`select pg_sleep(1.2)`
  expect(next.own.size).toBe(0)
  resolve()
  await restsWith([leaving, next], 64)
  await Promise.all([leaving.stop(), next.stop()])
})

test('a process owns what it takes only when it knows what is in flight there', async () => {
  const { promise, resolve } = Promise.withResolvers<void>()
  const starting = aProcess({ taking: promise })
  const other = await eventually('the shards are taken', async () => {
    const locks = await admin`
      select from pg_locks where locktype = 'advisory' and classid::integer = ${ADVISORY_LOCKS.deliveryShard}::integer
        and database = (select oid from pg_database where datname = current_database())`
    return locks.length === SHARDS && aProcess()
  })
  expect([holders.size, other.own.size]).toEqual([0, 0])
  resolve()
  await restsWith([await starting, other], 64)
  await Promise.all([(await starting).stop(), other.stop()])
})

test('a process whose session is killed loses its shards, and takes them again', async () => {
  const one = await aProcess()
  await kill()
  await eventually('they are lost', () => one.losses() === 1)
  await restsWith([one], SHARDS)
  expect(one.ownership.owns(inShard(5))).toBe(true)
  await one.stop()
})

test('what a process loses goes to another, and is never of both', async () => {
  const [one, two] = [await aProcess(), await aProcess()]
  await restsWith([one, two], 64)
  for (let round = 1; round <= 3; round++) {
    await kill(1)
    await eventually('some are lost', () => one.losses() + two.losses() >= round)
    await restsWith([one, two], 64)
  }
  await kill()
  await restsWith([one, two], 64)
  await Promise.all([one.stop(), two.stop()])
  expect(await collided()).toEqual([])
})

test('a process that stands still loses its shards, and shares again when it goes on', async () => {
  const child = spawn(process.execPath, [
    fileURLToPath(new URL('./testing/owner-process.ts', import.meta.url)),
    workerUrl,
    String(SHORT_MS),
  ])
  guardChild(child, 'SIGKILL')
  whenDone(() => void child.kill('SIGKILL'))
  let printed = ''
  child.stdout.on('data', (data) => (printed += data))
  const ownOf = () => Number(printed.trim().split('\n').at(-1))
  await eventually('it owns all', () => ownOf() === SHARDS)
  const other = await aProcess()
  await eventually('each has half', () => ownOf() === 64 && other.own.size === 64)
  child.kill('SIGSTOP')
  await restsWith([other], SHARDS)
  child.kill('SIGCONT')
  await eventually('each has half again', () => ownOf() === 64 && other.own.size === 64)
  expect(printed.trim().split('\n').map(Number)).toContain(0)
  const before = other.died.length
  child.kill('SIGKILL')
  await once(child, 'exit')
  await restsWith([other], SHARDS)
  expect(other.died.slice(before)).toEqual([child.pid])
  await other.stop()
})

test('a process that PostgreSQL does not answer has stopped well before another gets its shards, and shares again later', async () => {
  const address = await startMovingAddress(workerUrl)
  const one = await aProcess({ through: address.through, answerWithinMs: SHORT_MS })
  const two = await aProcess()
  await restsWith([one, two], 64)
  address.vanish()
  await eventually('it is not sure any more', () => !one.ownership.isSure)
  expect(Array.from({ length: SHARDS }, (_, shard) => one.ownership.owns(inShard(shard)))).not.toContain(true)
  expect(two.own.size, 'PostgreSQL waits longer').toBe(64)
  await restsWith([two], SHARDS)
  address.moveTo(workerUrl)
  await restsWith([one, two], 64)
  expect(await collided()).toEqual([])
  await Promise.all([one.stop(), two.stop()])
})

test('a process is not sure of its shards while its host was suspended since the last answer: only the clock of the host shows it', async () => {
  const one = await aProcess({ answerWithinMs: 300_000, beatMs: 120_000 })
  expect(one.ownership.isSure).toBe(true)
  vi.useFakeTimers({ toFake: ['Date'], now: Date.now() + 300_000 })
  const isSure = one.ownership.isSure
  vi.useRealTimers()
  expect(isSure).toBe(false)
  await one.stop()
})

test('processes hear of what is due also for endpoints that they do not own', async () => {
  const [one, two] = [await aProcess(), await aProcess()]
  const ids = [inShard(3), inShard(100)]
  await notifyDue(admin as never, ids)
  await eventually('both hear', () => [one, two].every(({ heard }) => heard.length === 2))
  await kill()
  await eventually('they listen again', async () => {
    await notifyDue(admin as never, ids.slice(0, 1))
    return [one, two].every(({ heard }) => heard.length > 2)
  })
  await Promise.all([one.stop(), two.stop()])
})

test('a process has heard of what was committed before it asked', async () => {
  const one = await aProcess()
  for (let round = 0; round < 20; round++) {
    const id = inShard(round)
    await admin.begin((tx) => notifyDue(tx, [id]))
    await one.ownership.heard()
    expect(one.heard).toContain(id)
  }
  await one.stop()
})
