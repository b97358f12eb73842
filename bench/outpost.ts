import { randomUUID } from 'node:crypto'
import { once } from 'node:events'
import { chmodSync, mkdtempSync, writeFileSync } from 'node:fs'
import { connect } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { setTimeout as pause } from 'node:timers/promises'
import { type Command, runToEnd } from '@backoffice/testing/processes/child.ts'
import { guardFolder } from '@backoffice/testing/processes/guard.ts'
import { startManagedProcess } from '@backoffice/testing/processes/managed-process.ts'
import { answersOk, freePort, isListening } from '@backoffice/testing/processes/ports.ts'
import { startPostgres } from '@backoffice/testing/servers/postgres.ts'
import postgres from 'postgres'
import { apiClient } from './api.ts'
import { secondsOf } from './cpu-time.ts'
import { anEvent, bodyOf } from './events.ts'
import { closedLoop } from './load.ts'

/** The concurrency is that of Outpost's own load test. */
const SETTINGS = {
  PUBLISH_MAX_CONCURRENCY: '200',
  DELIVERY_MAX_CONCURRENCY: '200',
  LOG_MAX_CONCURRENCY: '200',
  LOG_BATCH_SIZE: '1000',
  LOG_BATCH_THRESHOLD_SECONDS: '1',
  MAX_DESTINATIONS_PER_TENANT: '50',
  DESTINATIONS_WEBHOOK_MODE: 'standard',
  TOPICS: 'product.updated',
  LOG_LEVEL: 'warn',
  DISABLE_TELEMETRY: 'true',
}
/** Outpost reads events from the one queue, and the deliveries of its own from the other. */
const [EVENTS, DELIVERIES] = ['/queue/publish', '/amq/queue/outpost-delivery']
const CONCURRENT_SENDS = 500

export type Outpost = Awaited<ReturnType<typeof startOutpost>>

/** Starts Outpost, with its programs in this folder, on stores of its own. It keeps its log in PostgreSQL. */
export async function startOutpost(programs: string) {
  const directory = mkdtempSync(join(tmpdir(), 'outpost-'))
  guardFolder(directory)
  chmodSync(directory, 0o755)
  const [database, redis, rabbit] = await Promise.all([
    startPostgres({ directory: join(directory, 'postgres') }),
    startRedis(directory),
    startRabbit(directory),
  ])
  const [port, key] = [await freePort(), randomUUID()]
  const command: Command = {
    name: 'Outpost',
    file: join(programs, 'outpost-server'),
    args: [],
    cwd: directory,
    output: join(directory, 'outpost.log'),
    env: {
      ...process.env,
      ...SETTINGS,
      API_PORT: String(port),
      API_KEY: key,
      API_JWT_SECRET: key,
      AES_ENCRYPTION_SECRET: key.slice(0, 32),
      POSTGRES_URL: `${database.url}?sslmode=disable`,
      REDIS_PORT: String(redis.port),
      RABBITMQ_SERVER_URL: rabbit.url,
      PUBLISH_RABBITMQ_SERVER_URL: rabbit.url,
      PUBLISH_RABBITMQ_QUEUE: 'publish',
    },
  }
  const migrate = { ...command, file: join(programs, 'outpost'), args: ['migrate', 'apply', '--yes'] }
  await runToEnd(migrate, 'Outpost could not migrate its stores')
  const queues = await connectQueues(rabbit.stompPort)
  const url = `http://127.0.0.1:${port}`
  const server = await startManagedProcess({ command, isReady: () => answersOk(`${url}/healthz`) })
  const api = apiClient(url, { authorization: `Bearer ${key}` })
  const sql = postgres(database.url, { max: 1 })
  const parts = { outpost: server, redis: redis.server, rabbitmq: rabbit.server, postgres: database }

  /** Creates a tenant with a destination for each URL. */
  const tenantOf = async (urls: readonly string[]) => {
    const id = randomUUID()
    await api.put(`/api/v1/tenants/${id}`, {})
    const destinations: string[] = []
    await closedLoop(urls.length, 8, async (index) => {
      const config = { url: urls[index] }
      const path = `/api/v1/tenants/${id}/destinations`
      destinations.push((await api.post<{ id: string }>(path, { type: 'webhook', topics: ['*'], config })).id)
    })
    return { id, destinations }
  }
  return {
    server,
    /** CPU seconds of Outpost and its stores. */
    cpu: () => Object.values(parts).reduce((sum, { pid = 0 }) => sum + secondsOf(pid), 0),
    async subscribe(urls: readonly (readonly string[])[]) {
      const tenants = await Promise.all(urls.map(tenantOf))
      return {
        workspaceIds: tenants.map(({ id }) => id),
        publish: (event: ReturnType<typeof anEvent>) => queues.send(EVENTS, eventOf(event)),
        /** Publishes `count` events of the tenants in turn, or the deliveries that Outpost makes of such events. */
        async publishMany(count: number, asDeliveries = false) {
          await closedLoop(count, CONCURRENT_SENDS, (index) => {
            const { id, destinations } = tenants[index % tenants.length] as (typeof tenants)[number]
            const event = eventOf(anEvent(id))
            if (!asDeliveries) return queues.send(EVENTS, event)
            const deliveries = destinations.map((destination_id) => ({ event, destination_id, attempt: 1 }))
            return Promise.all(deliveries.map((delivery) => queues.send(DELIVERIES, delivery)))
          })
        },
        /** Makes what is published wait, since Outpost does not run. Returns the function that starts it. */
        async hold() {
          await server.stop()
          return () => server.start()
        },
        end: () => Promise.all(tenants.map(({ id }) => api.delete(`/api/v1/tenants/${id}`))),
      }
    },
    /** Waits until its log has all attempts, so that no more come for twice as long as a batch may wait. */
    async rest() {
      const logged = async () => (await sql<[{ count: number }]>`select count(*)::integer from attempts`)[0].count
      for (let [before, now] = [-1, await logged()]; now > before; [before, now] = [now, await logged()])
        await pause(2000)
    },
    async stop() {
      queues.close()
      await api.close()
      await sql.end()
      for (const part of [...Object.values(parts), rabbit.epmd]) await part.stop()
    },
  }
}

const eventOf = (event: ReturnType<typeof anEvent>) => ({
  id: event.id,
  tenant_id: event.workspace_id,
  topic: event.type,
  eligible_for_retry: true,
  time: event.occurred_at,
  data: JSON.parse(bodyOf(event)),
})

/** Redis keeps nothing on the disk, which is its quickest setting. */
async function startRedis(directory: string) {
  const port = await freePort()
  const args = ['--port', String(port), '--bind', '127.0.0.1', '--save', '', '--dir', directory]
  const command = { name: 'Redis', file: 'redis-server', args, output: join(directory, 'redis.log') }
  return { port, server: await startManagedProcess({ command, isReady: () => isListening(port) }) }
}

/** RabbitMQ with STOMP, and the daemon that knows its name. */
async function startRabbit(directory: string) {
  const [port, stompPort, epmdPort, nodePort] = [await freePort(), await freePort(), await freePort(), await freePort()]
  const output = join(directory, 'rabbitmq.log')
  const listeners = [`listeners.tcp.1 = 127.0.0.1:${port}`, `stomp.listeners.tcp.1 = 127.0.0.1:${stompPort}`]
  writeFileSync(join(directory, 'rabbitmq.conf'), `${listeners.join('\n')}\n`)
  writeFileSync(join(directory, 'plugins'), '[rabbitmq_stomp].')
  const env = {
    ...process.env,
    HOME: directory,
    ERL_EPMD_ADDRESS: '127.0.0.1',
    ERL_EPMD_PORT: String(epmdPort),
    RABBITMQ_CONF_ENV_FILE: join(directory, 'none'),
    RABBITMQ_CONFIG_FILE: join(directory, 'rabbitmq.conf'),
    RABBITMQ_ENABLED_PLUGINS_FILE: join(directory, 'plugins'),
    RABBITMQ_MNESIA_BASE: directory,
    RABBITMQ_LOGS: '-',
    RABBITMQ_NODENAME: 'outpost@localhost',
    RABBITMQ_DIST_PORT: String(nodePort),
    RABBITMQ_SERVER_ADDITIONAL_ERL_ARGS: '-kernel inet_dist_use_interface {127,0,0,1}',
    // Its script then becomes the server instead of waiting for it.
    RUNNING_UNDER_SYSTEMD: 'true',
  }
  const epmd = await startManagedProcess({
    command: { name: 'epmd', file: 'epmd', args: [], env, output },
    isReady: () => isListening(epmdPort),
  })
  const server = await startManagedProcess({
    command: { name: 'RabbitMQ', file: '/usr/lib/rabbitmq/bin/rabbitmq-server', args: [], env, output },
    isReady: () => isListening(stompPort),
  })
  return { url: `amqp://guest:guest@127.0.0.1:${port}`, stompPort, epmd, server }
}

/** Writes to queues of RabbitMQ by STOMP. The queue of events is there from now on. */
async function connectQueues(port: number) {
  const socket = connect(port, '127.0.0.1')
  const confirmed = new Map<string, () => void>()
  let count = 0
  const write = (head: string, body = '') =>
    new Promise<void>((resolve) => {
      const receipt = String(count++)
      confirmed.set(receipt, resolve)
      socket.write(`${head}\nreceipt:${receipt}\n\n${body}\0`)
    })
  createInterface({ input: socket }).on('line', (line) => {
    if (line.endsWith('ERROR')) throw new Error('RabbitMQ refused a frame of STOMP')
    const receipt = /^receipt-id:(\d+)/.exec(line)?.[1] ?? ''
    confirmed.get(receipt)?.()
    confirmed.delete(receipt)
  })
  await once(socket, 'connect')
  socket.write('CONNECT\naccept-version:1.2\nhost:/\nlogin:guest\npasscode:guest\n\n\0')
  await write(`SUBSCRIBE\nid:0\ndestination:${EVENTS}`)
  await write('UNSUBSCRIBE\nid:0')
  return {
    /** Resolves once the message is on the disk. */
    send: (queue: string, message: object) =>
      write(`SEND\ndestination:${queue}\npersistent:true`, JSON.stringify(message)),
    close: () => void socket.destroy(),
  }
}
