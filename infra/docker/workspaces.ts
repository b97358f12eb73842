import { globSync, readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { asInstalled } from './as-installed.ts'

/** The members of a package.json that matter here. */
export interface Manifest {
  readonly name: string
  readonly workspaces?: readonly string[]
  readonly dependencies?: Readonly<Record<string, string>>
}

/** A package of this repository. */
export interface Workspace {
  /** Its folder, from the root: `libs/http`. */
  readonly directory: string
  readonly manifest: Manifest
}

/** The repository's root. */
export const ROOT = join(import.meta.dirname, '../..')

const manifestIn = (directory: string): Manifest =>
  JSON.parse(readFileSync(join(ROOT, directory, 'package.json'), 'utf8'))

const SERVICES = globSync('services/*/package.json', { cwd: ROOT }).map((file) => dirname(file))

/** The images of commands, and the folders of the packages that they are made for. */
const COMMANDS: Readonly<Record<string, string>> = { jobs: 'infra/jobs', operator: 'infra/cli' }

/** All images: one for each service, `jobs` with the one-shot commands, and `operator` with `backoffice`. */
export const IMAGES: readonly string[] = [
  ...SERVICES.map((folder) => folder.replace('services/', '')),
  ...Object.keys(COMMANDS),
].toSorted()

/** Whether an image is that of a service. */
export const isService = (image: string): boolean => COMMANDS[image] === undefined

/** The folder of the package that an image is made for. */
export const packageOf = (image: string): string => COMMANDS[image] ?? `services/${image}`

/**
 * The packages of this repository that an image needs: its own, and those it depends on, also indirectly.
 */
export function workspacesOf(image: string): Workspace[] {
  if (!IMAGES.includes(image)) throw new Error(`no such image: ${image}; there are ${IMAGES.join(', ')}`)
  const folders =
    manifestIn('.').workspaces?.flatMap((pattern) => globSync(`${pattern}/package.json`, { cwd: ROOT })) ?? []
  const all = new Map(
    folders.map(dirname).map((directory) => {
      const manifest = asInstalled(image, directory, manifestIn(directory))
      return [manifest.name, { directory, manifest }]
    }),
  )
  const needed = new Set<Workspace>()
  const add = (workspace: Workspace | undefined) => {
    if (workspace === undefined || needed.has(workspace)) return
    needed.add(workspace)
    for (const name of Object.keys(workspace.manifest.dependencies ?? {})) add(all.get(name))
  }
  add(all.get(manifestIn(packageOf(image)).name))
  return [...needed].toSorted((a, b) => a.directory.localeCompare(b.directory))
}
