import { execFileSync } from 'node:child_process'
import { appendFileSync, chmodSync, copyFileSync, mkdirSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { eventually } from '@backoffice/testing/eventually.ts'
import { startMovingAddress } from '@backoffice/testing/moving-address.ts'
import { startPostgres } from '@backoffice/testing/servers/postgres.ts'
import postgres from 'postgres'
import { takeBaseBackup } from './base-backup.ts'

/**
 * Starts a synchronous standby of a running server, with its data in `directory`, which is new. Commits of the primary
 * wait for it from now on. `serverUrl` is a superuser's.
 */
export async function startStandby(serverUrl: string, directory: string) {
  const sql = postgres(serverUrl, { max: 1, onnotice: () => undefined })
  const [{ data_directory: data }] = await sql<[{ data_directory: string }]>`show data_directory`
  mkdirSync(directory)
  chmodSync(directory, 0o755)
  const copy = join(directory, 'data')
  await takeBaseBackup(sql, data, copy)
  copyFileSync(join(dirname(data), 'password'), join(directory, 'password'))
  // What the primary sends; it vanishes with the primary.
  const replication = await startMovingAddress(serverUrl)
  const { hostname: host, port, username: user, password } = new URL(replication.through(serverUrl))
  const origin = `host=${host} port=${port} user=${user} password=${password}`
  appendFileSync(join(copy, 'postgresql.auto.conf'), `\nprimary_conninfo = '${origin}'\n`)
  mkdirSync(join(copy, 'pg_wal'), { recursive: true })
  writeFileSync(join(copy, 'standby.signal'), '')
  const owner = execFileSync('stat', ['--format=%u:%g', data], { encoding: 'utf8' }).trim()
  execFileSync('chown', ['--recursive', owner, directory])
  chmodSync(copy, 0o700)
  const server = await startPostgres({ directory })
  // After the backup, which the standby's settings are from: promoted, it waits for nobody.
  await sql`alter system set synchronous_standby_names = '*'`
  await sql`select pg_reload_conf()`
  await eventually('the standby is synchronous', async () => {
    const [{ state } = {}] = await sql<{ state: string }[]>`select sync_state as state from pg_stat_replication`
    return state === 'sync'
  })
  await sql.end()
  return {
    url: server.url,
    stop: server.stop,
    /** Nothing of the primary arrives any more. */
    loseOrigin: replication.vanish,
    /** Makes it a primary, which waits for no standby; resolves when it takes writes. */
    async promote() {
      const standby = postgres(server.url, { max: 1, onnotice: () => undefined })
      await standby`select pg_promote()`
      await standby.end()
    },
  }
}
