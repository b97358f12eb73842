import { spawnSync } from 'node:child_process'
import { chownSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { startManagedProcess } from './processes/managed-process.ts'
import { freePort, isListening } from './processes/ports.ts'
import { postgresUser } from './servers/postgres-user.ts'
import { whenDone } from './when-done.ts'

/** Connections of the pooler to the server, for each role: fewer than the clients, so that they share them. */
export const SERVER_CONNECTIONS = 3

/**
 * Starts Debian's PgBouncer, in transaction mode, for the calling test or file, as a user without rights. It knows the
 * roles of `urls`, which lead to one server with any database.
 */
export async function startPooler(urls: readonly string[]) {
  const isPreparing = keepsPreparedStatements()
  const directory = mkdtempSync(join(tmpdir(), 'pgbouncer-'))
  const file = (name: string) => join(directory, name)
  const user = postgresUser()
  const port = await freePort()
  const files = {
    'pgbouncer.ini': settingsOf(new URL(urls[0] ?? ''), port, file('roles.txt'), isPreparing),
    'roles.txt': urls.map(roleLine).join('\n'),
    log: '',
  }
  for (const [name, text] of Object.entries(files)) writeFileSync(file(name), text)
  if (user) for (const name of ['.', ...Object.keys(files)]) chownSync(file(name), user.uid, user.gid)
  const args = [file('pgbouncer.ini')]
  const managed = await startManagedProcess({
    command: { name: 'PgBouncer', file: 'pgbouncer', args, cwd: directory, user, output: file('log') },
    isReady: () => isListening(port),
  })
  whenDone(async () => {
    await managed.kill()
    rmSync(directory, { recursive: true, force: true })
  })
  return {
    /** The URL that leads through the pooler; `serverUrl` leads to the server, with a role that the pooler knows. */
    through(serverUrl: string): string {
      const url = new URL(serverUrl)
      url.host = `127.0.0.1:${port}`
      if (!isPreparing) url.searchParams.set('prepare', 'false')
      return url.href
    },
    /** kill -9. */
    kill: managed.kill,
    start: managed.start,
    /** SIGSTOP: connections stay open and nothing is answered, until `resume`. */
    hang: () => managed.signal('SIGSTOP'),
    resume: () => managed.signal('SIGCONT'),
  }
}

/** As docs/operations.md says (PgBouncer), with few connections to the server and short waits. */
const settingsOf = (server: URL, port: number, roles: string, isPreparing: boolean) => `
[databases]
* = host=${server.hostname} port=${server.port || 5432}

[pgbouncer]
listen_addr = 127.0.0.1
listen_port = ${port}
unix_socket_dir =
auth_type = scram-sha-256
auth_file = ${roles}
pool_mode = transaction
default_pool_size = ${SERVER_CONNECTIONS}
max_client_conn = 1000
query_wait_timeout = 5
query_timeout = 35
server_idle_timeout = 20
server_login_retry = 1
server_connect_timeout = 5
${isPreparing ? 'max_prepared_statements = 500' : ''}
`

const roleLine = (url: string) => {
  const { username, password } = new URL(url)
  return `"${username}" "${decodeURIComponent(password).replaceAll('"', '""')}"`
}

/** Whether this PgBouncer is 1.21 or newer: before it, statements cannot be prepared in transaction mode. */
function keepsPreparedStatements(): boolean {
  const { stdout, error } = spawnSync('pgbouncer', ['--version'], { encoding: 'utf8' })
  if (error) throw new Error('this test needs pgbouncer: apt-get install pgbouncer', { cause: error })
  const [, major, minor] = /PgBouncer (\d+)\.(\d+)/.exec(stdout) ?? []
  return Number(major) > 1 || Number(minor) >= 21
}
