import { execFileSync } from 'node:child_process'
import { copyFileSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { asInstalled, type Dependencies } from './as-installed.ts'
import { entriesIn } from './entries-in.ts'
import { ROOT, type Workspace } from './workspaces.ts'

interface LockEntry extends Dependencies {
  /** Of a link to a package of this repository, its folder. */
  readonly resolved?: string
  readonly link?: boolean
}

/**
 * Installs what an image's packages need at run time, in the versions and places of the lock file. npm leaves out what
 * nothing asks for any more.
 */
export function installPackages(image: string, workspaces: readonly Workspace[], target: string): void {
  const writeJson = (file: string, value: unknown) =>
    writeFileSync(join(target, file), `${JSON.stringify(value, null, 2)}\n`)
  const directories = workspaces.map(({ directory }) => directory)
  for (const { directory, manifest } of workspaces) {
    mkdirSync(join(target, directory), { recursive: true })
    writeJson(join(directory, 'package.json'), manifest)
  }
  const root = { name: `backoffice-${image}`, version: '0.0.0', private: true, workspaces: directories }
  writeJson('package.json', root)
  writeJson('package-lock.json', lockOf(image, directories, root))
  copyFileSync(join(ROOT, '.npmrc'), join(target, '.npmrc'))
  execFileSync('npm', ['ci', '--omit=dev', '--ignore-scripts', '--prefer-offline', '--loglevel=error'], {
    cwd: target,
    stdio: ['ignore', 'ignore', 'inherit'],
  })
  removeUnloaded(target)
}

function lockOf(image: string, directories: readonly string[], root: object): object {
  const lock: { packages: Record<string, LockEntry> } = JSON.parse(
    readFileSync(join(ROOT, 'package-lock.json'), 'utf8'),
  )
  const isKept = ([path, { link, resolved = '' }]: [string, LockEntry]) => {
    if (link) return directories.includes(resolved)
    return path.startsWith('node_modules/') || directories.some((directory) => `${path}/`.startsWith(`${directory}/`))
  }
  const kept = Object.entries(lock.packages).filter(isKept)
  const packages = kept.map(([path, entry]) => [path, asInstalled(image, path, entry)] as const)
  return { ...lock, ...root, packages: { '': root, ...Object.fromEntries(packages) } }
}

/** Types and source maps, which Node never loads, and texts that are no licence: half of all bytes. */
const UNLOADED = /\.([cm]?tsx?|map|flow|md|markdown)$/
const LICENCE = /^(licen[cs]e|notice|copying)/i

function removeUnloaded(target: string): void {
  for (const entry of entriesIn(target)) {
    const isUnloaded = entry.isFile() && UNLOADED.test(entry.name) && !LICENCE.test(entry.name)
    if (isUnloaded && entry.path.includes('/node_modules/')) rmSync(entry.path)
  }
}
