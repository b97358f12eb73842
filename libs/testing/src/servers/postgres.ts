import { randomBytes } from 'node:crypto'
import { chownSync, existsSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { totalmem } from 'node:os'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { type Command, runToEnd } from '../processes/child.ts'
import { type ProgramOptions, startManagedProcess } from '../processes/managed-process.ts'
import { freePort } from '../processes/ports.ts'
import { processIdentity } from '../processes/process-identity.ts'
import { StackError } from '../processes/stack-error.ts'
import { type PostgresPlace, preparePostgresPlace } from './postgres-place.ts'
import { postgresSettings } from './postgres-settings.ts'

interface PostgresOptions extends ProgramOptions {
  /** Settings of the server besides those every one gets. */
  readonly settings?: Readonly<Record<string, string>> | undefined
}

const LEFTOVER_ENDS_WITHIN_MS = 15_000

/** Starts PostgreSQL 18 on 127.0.0.1 with the data in `directory`, creating it at first. `url` is the superuser's. */
export async function startPostgres(options: PostgresOptions) {
  const place = preparePostgresPlace(options.directory)
  const port = await freePort()
  const log = join(place.home, 'postgres.log')
  if (!existsSync(join(place.home, 'data'))) {
    options.onProgress?.('creating the database')
    await createCluster(place, log)
  }
  const managed = await startManagedProcess({
    command: serverCommand(place, log, { port, ...options.settings }),
    prepare: () => clearLeftover(place),
    isReady: async () => ['ready', 'standby'].includes(postmasterFile(place)[7]?.trim() ?? ''),
    onDeath: options.onDeath,
  })
  const password = readFileSync(join(place.home, 'password'), 'utf8')
  return Object.assign(managed, { url: `postgres://postgres:${password}@127.0.0.1:${port}/postgres` })
}

/** Creates the cluster beside its final place, so that an unfinished one is never used. */
async function createCluster({ home, binaries, user }: PostgresPlace, log: string): Promise<void> {
  const unfinished = join(home, 'data.unfinished')
  rmSync(unfinished, { recursive: true, force: true })
  const passwordFile = join(home, 'password')
  writeFileSync(passwordFile, randomBytes(18).toString('hex'), { mode: 0o600 })
  if (user) chownSync(passwordFile, user.uid, user.gid)
  const files = [`--pgdata=${unfinished}`, `--pwfile=${passwordFile}`]
  const locale = ['--encoding=UTF8', '--locale=C', '--locale-provider=builtin', '--builtin-locale=C.UTF-8']
  const args = ['--username=postgres', '--auth=scram-sha-256', ...locale, ...files]
  const initdb = { name: 'initdb', file: join(binaries, 'bin', 'initdb'), args, cwd: home, user, output: log }
  await runToEnd(initdb, `PostgreSQL could not create ${unfinished}`)
  renameSync(unfinished, join(home, 'data'))
}

function serverCommand(
  { home, binaries, user }: PostgresPlace,
  output: string,
  more: Readonly<Record<string, string | number>>,
): Command {
  const settings = Object.entries({ ...postgresSettings(machineMemory()), ...more })
  return {
    name: 'PostgreSQL',
    file: join(binaries, 'bin', 'postgres'),
    args: ['-D', join(home, 'data'), ...settings.flatMap(([name, value]) => ['-c', `${name}=${value}`])],
    cwd: home,
    user,
    output,
    // Fast shutdown: ends the sessions instead of waiting for them.
    stopSignal: 'SIGINT',
  }
}

/** The memory of this machine in bytes, or of the container that this process is limited to. */
const machineMemory = () => Math.min(totalmem(), process.constrainedMemory() || totalmem())

/**
 * Prepares a start: waits until a server of an earlier run has ended, and removes the pid file that kill -9 left, since
 * its pid may belong to another process now. Throws StackError when a server still runs on this data after 15 s.
 */
async function clearLeftover(place: PostgresPlace): Promise<void> {
  const data = join(place.home, 'data')
  const deadline = performance.now() + LEFTOVER_ENDS_WITHIN_MS
  const pid = Number(postmasterFile(place)[0])
  while (pid && processIdentity(pid)?.includes(data)) {
    if (performance.now() > deadline)
      throw new StackError(`PostgreSQL already runs on ${data}: stop it with kill -INT ${pid}`)
    await delay(100)
  }
  rmSync(join(data, 'postmaster.pid'), { force: true })
}

/** Lines of postmaster.pid: the first is the process id, the eighth its state. */
function postmasterFile({ home }: PostgresPlace): string[] {
  const file = join(home, 'data', 'postmaster.pid')
  return existsSync(file) ? readFileSync(file, 'utf8').split('\n') : []
}
