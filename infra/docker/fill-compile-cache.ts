import { spawnSync } from 'node:child_process'
import { chmodSync, lutimesSync, mkdirSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { entriesIn } from './entries-in.ts'
import { COMPILE_CACHE, START_SCRIPT } from './start-script.ts'

/**
 * Fills the compile cache of a tree: starts its service without settings, so that it ends once its modules are loaded.
 * Throws when a module is missing. Node keeps a cache for each user id: run this as the user that runs the service.
 */
export function fillCompileCache(tree: string): void {
  const cache = join(tree, COMPILE_CACHE)
  mkdirSync(cache, { recursive: true })
  const { PATH } = process.env
  const { status, stdout, stderr } = spawnSync(join(tree, START_SCRIPT), { env: { PATH }, encoding: 'utf8' })
  if (status !== 1 || !stdout.includes('"configuration: '))
    throw new Error(`${tree} did not end for its missing settings: exit code ${status}: ${stdout}${stderr}`)
  for (const entry of entriesIn(cache)) {
    // Node lets only its own user read the files; the owner in the image may be another.
    chmodSync(entry.path, entry.isDirectory() ? 0o755 : 0o644)
    lutimesSync(entry.path, 0, 0)
  }
}

/** `node infra/docker/fill-compile-cache.ts <folder>` */
if (import.meta.main) fillCompileCache(resolve(process.argv[2] ?? ''))
