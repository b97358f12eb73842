import { spawnSync } from 'node:child_process'
import { existsSync, realpathSync, statSync } from 'node:fs'
import { dirname } from 'node:path'

/** The operating-system user of PostgreSQL, which refuses to run as root. */
export interface SystemUser {
  readonly uid: number
  readonly gid: number
}

/** Undefined unless this process is root; then the user `postgres` where there is one, else `nobody`. */
export function postgresUser(): SystemUser | undefined {
  if (process.getuid?.() !== 0) return undefined
  return systemUser('postgres') ?? systemUser('nobody')
}

function systemUser(name: string): SystemUser | undefined {
  const [uid, gid] = ['-u', '-g'].map((flag) => Number.parseInt(spawnSync('id', [flag, name]).stdout.toString(), 10))
  return uid && gid ? { uid, gid } : undefined
}

/** Whether a user may pass through every folder above a path. */
export function canReach(path: string, user: SystemUser): boolean {
  let folder = dirname(path)
  while (!existsSync(folder)) folder = dirname(folder)
  folder = realpathSync(folder)
  while (isOpenTo(folder, user)) {
    if (folder === dirname(folder)) return true
    folder = dirname(folder)
  }
  return false
}

function isOpenTo(folder: string, user: SystemUser): boolean {
  const { mode, uid, gid } = statSync(folder)
  const needed = uid === user.uid ? 0o100 : gid === user.gid ? 0o010 : 0o001
  return (mode & needed) !== 0
}
