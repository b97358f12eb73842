import { execFileSync } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import { appendFileSync, chmodSync, cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { rolePasswords } from '@backoffice/local/secrets.ts'
import type { StackDescription } from '@backoffice/local/stack-file.ts'
import { roleUrl } from '@backoffice/postgres/provision.ts'
import { eventually } from '@backoffice/testing/eventually.ts'
import { startReceiver } from '@backoffice/testing/receiver.ts'
import { whenDone } from '@backoffice/testing/when-done.ts'
import postgres from 'postgres'
import { expect, it } from 'vitest'
import { takeBaseBackup } from './testing/base-backup.ts'
import { prepareDeployment, prepareTopics } from './testing/deployment.ts'
import { expectNothingLost, untilPublished } from './testing/nothing-lost.ts'
import { guideBlocks } from './testing/operations-guide.ts'
import { aProduct } from './testing/products.ts'
import { eventOf } from './testing/webhooks.ts'
import { newWorkspace } from './testing/workspaces.ts'

const RECOVERY_MS = 180_000

const archive = mkdtempSync(join(tmpdir(), 'backoffice-archive-'))
// PostgreSQL runs as another user if the tests run as root.
chmodSync(archive, 0o777)
whenDone(() => rmSync(archive, { recursive: true, force: true }))
const inArchive = (settings: string) => settings.replaceAll('/archive', archive)

const prefix = `restore-${randomUUID()}`
Object.assign(process.env, { KAFKA_PREFIX: `${prefix}.`, LOG_LEVEL: 'warn' })
const deployment = await prepareDeployment({ replicas: 1, postgresSettings: archiving() })
const { directory, stack } = deployment
await deployment.start({})

/** The settings of docs/operations.md, with the archive of this test. */
function archiving(): Record<string, string> {
  const [settings = ''] = guideBlocks('Backup and restore', '')
  return Object.fromEntries(
    [...inArchive(settings).matchAll(/^(\w+) = (?:'(.*)'|([^ \n]+))/gm)].map(([, name = '', quoted, plain]) => [
      name,
      quoted ?? plain ?? '',
    ]),
  )
}

const open = () => {
  const sql = postgres(stack.postgres, { max: 1, onnotice: () => undefined })
  whenDone(() => sql.end())
  return sql
}
const description = (): StackDescription => JSON.parse(readFileSync(join(directory, 'stack.json'), 'utf8'))

/** Restores the backup to a time, by the settings of docs/operations.md. */
async function restore(data: string, backup: string, time: string): Promise<void> {
  await deployment.postgres.stop()
  const owner = execFileSync('stat', ['--format=%u:%g', data], { encoding: 'utf8' }).trim()
  rmSync(data, { recursive: true })
  cpSync(backup, data, { recursive: true, preserveTimestamps: true })
  const [settings = ''] = guideBlocks('Restore to a point in time', '')
  const target = inArchive(settings).replace(/recovery_target_time = '.*'/, `recovery_target_time = '${time}'`)
  expect(target).toContain(time)
  appendFileSync(join(data, 'postgresql.auto.conf'), `\n${target}`)
  mkdirSync(join(data, 'pg_wal'), { recursive: true })
  writeFileSync(join(data, 'recovery.signal'), '')
  execFileSync('chown', ['--recursive', owner, data])
  chmodSync(data, 0o700)
  await deployment.postgres.start()
}

/**
 * Runs the statements of docs/operations.md as the admin of a managed server, who is neither a superuser nor bypasses
 * row level security.
 */
async function publishAgain(sql: postgres.Sql): Promise<void> {
  const statements = guideBlocks('Restore to a point in time', 'sql').join('')
  const [transaction = ''] = guideBlocks('See every row', 'sql')
  await sql`create role admin_without_bypass login password 'of-the-admin' in role backoffice_migrator`
  const admin = postgres(
    roleUrl(stack.postgres, 'admin_without_bypass', () => 'of-the-admin'),
    { max: 1 },
  )
  whenDone(() => admin.end())
  await expect(admin.unsafe(statements)).rejects.toThrow('row-level security')
  const before = await walls(sql)
  await admin.unsafe(transaction.replace('-- here the statements', statements))
  expect(await walls(sql)).toEqual(before)
  expect((await sql`select from catalog.product_refresh where not is_change`).length).toBeGreaterThanOrEqual(2)
}

/** The tables with row level security, and whether it holds for their owner. */
const walls = (sql: postgres.Sql) => sql`
  select oid::regclass::text, relforcerowsecurity from pg_class where relrowsecurity order by oid`

it('a restore to a point in time undoes what came later, loses nothing from before, and passes all checks', async () => {
  const since = new Date()
  const receiver = await startReceiver()
  const arrived = () => new Set(receiver.requests.map(eventOf).map(({ data }) => data.id))
  const { api } = await newWorkspace(description())
  const rules = { match: 'all', conditions: [{ field: 'stock', operator: 'gt', value: 0 }] }
  await api('POST', '/v1/collections', { name: 'In stock', published: true, membership_type: 'SMART', rules })
  await api('POST', '/v1/webhooks', { url: receiver.url, enabled_events: ['*'] })
  const create = async (name: string) => {
    const { body } = await api<{ id: string; variants: { id: string }[] }>('POST', '/v1/products', aProduct({ name }))
    return { id: body.id, items: [{ variant: body.variants[0]?.id, quantity: 1 }] }
  }
  const order = async ({ items }: Awaited<ReturnType<typeof create>>) =>
    (await api<{ id: string }>('POST', '/v1/orders', { currency: 'NGN', status: 'PLACED', items })).status

  const before = open()
  const [{ data_directory: data = '' } = {}] = await before<{ data_directory: string }[]>`show data_directory`
  const first = await create('Before the backup')
  await takeBaseBackup(before, data, `${data}.backup`)
  whenDone(() => rmSync(`${data}.backup`, { recursive: true, force: true }))
  const second = await create('After the backup')
  expect(await order(second)).toBe(201)
  await eventually('their events have arrived', () => arrived().has(first.id) && arrived().has(second.id), RECOVERY_MS)
  const [{ now: time = '' } = {}] = await before<{ now: string }[]>`select clock_timestamp()::text as now`

  expect((await api('DELETE', `/v1/products/${first.id}`)).status).toBe(204)
  const third = await create('After the time')
  expect(await order(third)).toBe(201)
  await before`select pg_switch_wal()`
  await eventually('the WAL is archived', async () => {
    const [{ ahead = 1 } = {}] = await before<{ ahead: number }[]>`
      select count(*)::integer as ahead from pg_ls_archive_statusdir() where name like '%.ready'`
    return ahead === 0
  })
  await before.end()

  await deployment.stop()
  await restore(data, `${data}.backup`, time)
  process.env.KAFKA_PREFIX = `${prefix}-restored.`
  await prepareTopics(stack.kafka)
  const sql = open()
  await eventually(
    'the restored server takes writes',
    async () => {
      const [{ is = true } = {}] = await sql<{ is: boolean }[]>`select pg_is_in_recovery() as is`
      return !is
    },
    RECOVERY_MS,
  )
  await publishAgain(sql)
  receiver.requests.length = 0
  await deployment.start({})
  await eventually(
    'the states are published',
    async () => (await sql`select from catalog.product_refresh limit 1`).length === 0,
    RECOVERY_MS,
  )
  await untilPublished(sql)
  const url = roleUrl(stack.postgres, 'collections_worker', rolePasswords(stack.secrets))
  const worker = { WORKER_DATABASE_URL: url, KAFKA_BROKERS: stack.kafka.join(',') }
  execFileSync(process.execPath, ['services/collections/src/products/rebuild.ts'], {
    env: { ...process.env, ...worker },
  })

  const { body: list } = await api<{ items: { id: string }[] }>('GET', '/v1/products')
  expect(list.items.map(({ id }) => id).sort()).toEqual([first.id, second.id].sort())
  const fourth = await create('After the restore')
  expect(await order(fourth)).toBe(201)
  await eventually('events arrive again', () => arrived().has(fourth.id), RECOVERY_MS)
  await eventually(
    'the collection has the products',
    async () => {
      const { body } = await api<{ product_count: number }>('GET', '/v1/collections/in-stock')
      return body.product_count === 3
    },
    RECOVERY_MS,
  )
  await expectNothingLost(sql, directory, since)
}, 600_000)
