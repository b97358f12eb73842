import { execFileSync } from 'node:child_process'
import {
  chmodSync,
  cpSync,
  existsSync,
  globSync,
  lutimesSync,
  mkdirSync,
  readdirSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { basename, join, resolve } from 'node:path'
import { GUIDES, guideFile } from '../../services/gateway/src/public/guides/guide-files.ts'
import { entriesIn } from './entries-in.ts'
import { installPackages } from './install-packages.ts'
import { PROGRAMS, START_SCRIPT, startScript } from './start-script.ts'
import { isService, packageOf, ROOT, type Workspace, workspacesOf } from './workspaces.ts'

/**
 * Makes the tree of files of an image in an empty folder: the packages it needs at run time, its sources, and the
 * program of the image: `run` starts a service, `backoffice` is the command line. The tree, file times included,
 * depends only on the sources and the lock file. The Dockerfile runs this command; it works without Docker too.
 */
export async function assemble(image: string, target: string): Promise<void> {
  const workspaces = workspacesOf(image)
  mkdirSync(target, { recursive: true })
  if (readdirSync(target).length > 0) throw new Error(`${target} is not empty`)
  installPackages(image, workspaces, target)
  copySources(image, workspaces, target)
  if (image === 'gateway') {
    for (const file of GUIDES.map(guideFile)) cpSync(join(ROOT, file), join(target, file))
  }
  if (isService(image)) {
    await build(image, target)
    writeProgram(join(target, START_SCRIPT), startScript(image))
  }
  if (image === 'operator') writeProgram(join(target, 'backoffice'), COMMAND_SCRIPT)
  for (const { path } of entriesIn(target)) lutimesSync(path, 0, 0)
}

/** Builds a service's program, and the pages of the console for the gateway. */
async function build(service: string, target: string): Promise<void> {
  if (!existsSync(join(ROOT, 'node_modules/rolldown'))) installBuilders()
  const { bundle } = await import('./bundle.ts')
  await bundle(target, [service], join(target, PROGRAMS))
  if (service === 'gateway') buildConsole(join(target, 'console/dist'))
}

/** The Dockerfile starts without packages: these are installed as the lock file says. */
const installBuilders = () =>
  run('npm', ['ci', '--workspace=infra/docker', '--workspace=console', '--ignore-scripts', '--prefer-offline'])

const buildConsole = (target: string) =>
  run(process.execPath, ['node_modules/vite/bin/vite.js', 'build', 'console', '--emptyOutDir', '--outDir', target])

const run = (file: string, args: readonly string[]): void =>
  void execFileSync(file, args, { cwd: ROOT, stdio: ['ignore', 'ignore', 'inherit'] })

/** The command line in a tree: `backoffice`, by its path or from a folder in PATH. */
const COMMAND_SCRIPT = `#!/bin/sh
exec node "$(dirname "$0")/${packageOf('operator')}/main.ts" "$@"
`

function writeProgram(file: string, text: string): void {
  writeFileSync(file, text)
  chmodSync(file, 0o755)
}

/**
 * Copies the sources and migrations of an image's packages. They stay outside of node_modules, which has links to them:
 * Node strips no types there. The image of the one-shot commands has the migrations of all services too.
 */
function copySources(image: string, workspaces: readonly Workspace[], target: string): void {
  const services = image === 'jobs' ? globSync('services/*/migrations', { cwd: ROOT }) : []
  for (const directory of [...workspaces.map(({ directory }) => directory), ...services])
    cpSync(join(ROOT, directory), join(target, directory), { recursive: true, filter: isRun })
}

/** package.json is written apart from this, without what is for development. */
const NOT_RUN = new Set(['node_modules', 'testing', 'package.json'])

const isRun = (path: string): boolean => !NOT_RUN.has(basename(path)) && !/\.(test\.ts|md)$/.test(path)

/** The bytes of all files of a tree, and of those in folders node_modules. */
export function treeSize(target: string): { readonly all: number; readonly modules: number } {
  let [all, modules] = [0, 0]
  for (const entry of entriesIn(target)) {
    if (!entry.isFile()) continue
    const { size } = statSync(entry.path)
    all += size
    if (entry.path.includes('/node_modules/')) modules += size
  }
  return { all, modules }
}

/** `node infra/docker/assemble.ts <image> <folder>` */
if (import.meta.main) {
  const [image = '', target = ''] = process.argv.slice(2)
  await assemble(image, resolve(target))
  const { all, modules } = treeSize(target)
  const megabytes = (bytes: number) => `${(bytes / 1e6).toFixed(1)} MB`
  console.log(`${image}: ${megabytes(all)}, of it ${megabytes(modules)} in node_modules`)
}
