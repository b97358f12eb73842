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

/** PgBouncer in transaction mode before a PostgreSQL server. */
export interface Pooler {
  /** The URL that leads through the pooler; `serverUrl` leads to the server, with a role that the pooler knows. */
  through(serverUrl: string): string
  /** kill -9. */
  kill(): Promise<void>
  start(): Promise<void>
  /** SIGSTOP: connections stay open and nothing is answered, until `resume`. */
  hang(): void
  resume(): void
}

/**
 * Starts Debian's PgBouncer for the calling test or file, as a user without rights. It knows the roles of `urls`, which
 * lead to one server with any database.
 */
export async function startPooler(urls: readonly string[]): Promise<Pooler> {
  const version = pgbouncerVersion()
  const directory = mkdtempSync(join(tmpdir(), 'pgbouncer-'))
  const [settings, roles, log] = ['pgbouncer.ini', 'roles.txt', 'log'].map((name) => join(directory, name)) as [
    string,
    string,
    string,
  ]
  const user = postgresUser()
  const port = await freePort()
  writeFileSync(settings, settingsOf(new URL(urls[0] ?? ''), port, roles))
  writeFileSync(roles, urls.map(roleLine).join('\n'))
  writeFileSync(log, '')
  if (user) for (const path of [directory, settings, roles, log]) chownSync(path, user.uid, user.gid)
  const managed = await startManagedProcess({
    command: { name: 'PgBouncer', file: 'pgbouncer', args: [settings], cwd: directory, user, output: log },
    isReady: () => isListening(port),
  })
  const signal = (name: NodeJS.Signals) => process.kill(managed.pid ?? 0, name)
  whenDone(async () => {
    await managed.kill()
    rmSync(directory, { recursive: true, force: true })
  })
  return {
    through(serverUrl) {
      const url = new URL(serverUrl)
      url.host = `127.0.0.1:${port}`
      if (!keepsPreparedStatements(version)) url.searchParams.set('prepare', 'false')
      return url.href
    },
    kill: managed.kill,
    start: managed.start,
    hang: () => signal('SIGSTOP'),
    resume: () => signal('SIGCONT'),
  }
}

/** As docs/operations.md says (PgBouncer), with few connections to the server and short waits. */
const settingsOf = (server: URL, port: number, roles: string) => `
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
server_login_retry = 1
${keepsPreparedStatements(pgbouncerVersion()) ? 'max_prepared_statements = 500' : ''}
`

const roleLine = (url: string) => {
  const { username, password } = new URL(url)
  return `"${username}" "${decodeURIComponent(password).replaceAll('"', '""')}"`
}

function pgbouncerVersion(): string {
  const { stdout, error } = spawnSync('pgbouncer', ['--version'], { encoding: 'utf8' })
  if (error) throw new Error('this test needs pgbouncer: apt-get install pgbouncer', { cause: error })
  return /PgBouncer (\d+\.\d+)/.exec(stdout)?.[1] ?? ''
}

/** Since PgBouncer 1.21; before it, statements cannot be prepared in transaction mode. */
const keepsPreparedStatements = (version: string): boolean => {
  const [major = 0, minor = 0] = version.split('.').map(Number)
  return major > 1 || minor >= 21
}
