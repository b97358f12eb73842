import { cpSync, globSync } from 'node:fs'
import { basename, join } from 'node:path'
import { ROOT, type Workspace } from './workspaces.ts'

/**
 * Copies the sources and migrations of an image's packages. They stay outside of node_modules, which has links to them:
 * Node strips no types there. The image of the one-shot commands has the migrations of all services too.
 */
export function copySources(image: string, workspaces: readonly Workspace[], target: string): void {
  const services = image === 'jobs' ? globSync('services/*/migrations', { cwd: ROOT }) : []
  for (const directory of [...workspaces.map(({ directory }) => directory), ...services])
    cpSync(join(ROOT, directory), join(target, directory), { recursive: true, filter: isRun })
}

/** package.json is written apart from this, without what is for development. */
const NOT_RUN = new Set(['node_modules', 'testing', 'package.json'])

const isRun = (path: string): boolean => !NOT_RUN.has(basename(path)) && !/\.(test\.ts|md)$/.test(path)
