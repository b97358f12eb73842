import { execFileSync } from 'node:child_process'
import { copyFileSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { entriesIn } from './entries-in.ts'
import { type Manifest, ROOT, type Workspace } from './workspaces.ts'

interface LockEntry {
  /** Of a link to a package of this repository, its folder. */
  readonly resolved?: string
  readonly link?: boolean
  readonly dependencies?: Readonly<Record<string, string>>
  readonly devDependencies?: Readonly<Record<string, string>>
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
    writeJson(join(directory, 'package.json'), asInstalled(image, directory, manifest))
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

/**
 * Dependencies that no image loads, by the folder of the package that names them. The registry's client brings the
 * encryption of fields with the keys of five clouds, Avro, Protobuf and rules in two languages; we load its client and
 * its JSON serializer.
 */
const NEVER_LOADED: Readonly<Record<string, readonly string[]>> = {
  'node_modules/@confluentinc/schemaregistry': [
    '@aws-sdk/client-kms',
    '@aws-sdk/credential-providers',
    '@azure/identity',
    '@azure/keyvault-keys',
    '@bufbuild/cel',
    '@bufbuild/protobuf',
    '@google-cloud/kms',
    '@hackbg/miscreant-esm',
    '@smithy/types',
    '@types/simple-oauth2',
    '@types/validator',
    'avsc',
    'jsonata',
    'node-vault',
  ],
}

/** Only `jobs` migrates. */
const LOADED_BY_JOBS: Readonly<Record<string, readonly string[]>> = { 'libs/postgres': ['node-pg-migrate', 'pg'] }

/** A package's manifest, or its entry in the lock file, without what an image never loads. */
function asInstalled<Entry extends Pick<Manifest, 'dependencies' | 'devDependencies'>>(
  image: string,
  folder: string,
  { devDependencies: _, ...entry }: Entry,
): Omit<Entry, 'devDependencies'> {
  const leftOut = [...(NEVER_LOADED[folder] ?? []), ...((image !== 'jobs' && LOADED_BY_JOBS[folder]) || [])]
  if (entry.dependencies === undefined) return entry
  const kept = Object.entries(entry.dependencies).filter(([name]) => !leftOut.includes(name))
  return { ...entry, dependencies: Object.fromEntries(kept) }
}
