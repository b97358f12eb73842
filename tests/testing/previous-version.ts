import { execFileSync } from 'node:child_process'
import { existsSync, globSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, symlinkSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { SERVICE_NAMES } from '@backoffice/contracts/services.ts'
import { bundle } from '@backoffice/docker/bundle.ts'
import { whenDone } from '@backoffice/testing/when-done.ts'

const ROOT = join(import.meta.dirname, '../..')

/** The version that this one replaces, checked out in a folder of its own. */
export interface PreviousVersion {
  readonly commit: string
  readonly directory: string
  /** The folder of its bundled services. */
  readonly programs: string
}

/**
 * Checks out the version before this one: the commit in PREVIOUS_VERSION, else the last one of main that this branch
 * has, or the one before on main itself. It uses the installed packages of this version. Undefined in a clone that has
 * no earlier commit.
 */
export async function previousVersion(): Promise<PreviousVersion | undefined> {
  const commit = previousCommit()
  return commit === undefined ? undefined : await checkedOut(commit)
}

async function checkedOut(commit: string): Promise<PreviousVersion> {
  const directory = mkdtempSync(join(tmpdir(), 'backoffice-previous-'))
  whenDone(() => rmSync(directory, { recursive: true, force: true }))
  const archive = execFileSync('git', ['archive', commit], { cwd: ROOT, maxBuffer: 1024 ** 3 })
  execFileSync('tar', ['--extract', '--directory', directory], { input: archive })
  linkPackages(directory)
  const programs = join(directory, 'programs')
  await bundle(directory, SERVICE_NAMES, programs)
  return { commit, directory, programs }
}

function previousCommit(): string | undefined {
  const given = process.env.PREVIOUS_VERSION
  if (given !== undefined) return git('rev-parse', '--verify', `${given}^{commit}`)
  const head = git('rev-parse', 'HEAD')
  const base = git('merge-base', 'HEAD', 'origin/main') ?? git('merge-base', 'HEAD', 'main')
  return base === undefined || base === head ? git('rev-parse', '--verify', 'HEAD^1') : base
}

/** The output of git; undefined where it fails, as for a commit that a shallow clone lacks. */
function git(...args: string[]): string | undefined {
  try {
    return execFileSync('git', args, { cwd: ROOT, encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'] }).trim()
  } catch {
    return undefined
  }
}

/** Links the installed packages, and the workspace's own to the code of that version. */
function linkPackages(directory: string): void {
  const [from, to] = [join(ROOT, 'node_modules'), join(directory, 'node_modules')]
  mkdirSync(join(to, '@backoffice'), { recursive: true })
  for (const name of readdirSync(from)) {
    if (name !== '@backoffice') symlinkSync(join(from, name), join(to, name))
  }
  for (const file of globSync('{libs,services,infra}/*/package.json', { cwd: directory })) {
    const { name } = JSON.parse(readFileSync(join(directory, file), 'utf8'))
    if (name.startsWith('@backoffice/')) symlinkSync(join(directory, dirname(file)), join(to, name))
  }
  for (const folder of ['libs', 'services', 'infra'].flatMap(packagesIn)) {
    const nested = join(ROOT, folder, 'node_modules')
    const place = join(directory, folder, 'node_modules')
    if (existsSync(nested) && existsSync(dirname(place))) symlinkSync(nested, place)
  }
}

const packagesIn = (folder: string): string[] => readdirSync(join(ROOT, folder)).map((name) => join(folder, name))
