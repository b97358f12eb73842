import { globSync, readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'

/*
 * `npm run check:folders`: fails when folders of services, libs and infra import each other in a circle, and when a lib
 * imports a service or infra, or a service infra. Prints each circle with an import for each of its steps. Circles may
 * lead through tests and `testing/`. A library for this (dependency-cruiser) does not read TypeScript with version 7 of
 * the compiler.
 */

const IMPORT = /^(?:import|export)\b[^'"]*?\bfrom '((?:\.|@backoffice\/)[^']+)'|\bimport\('(\.[^']+)'\)/gm
/** Each may import itself and what comes before it. */
const LAYERS = ['libs', 'services', 'infra']

const packages = globSync(`{${LAYERS}}/*/package.json`).map((path) => {
  const { name, exports } = JSON.parse(readFileSync(path, 'utf8'))
  return [name, join(dirname(path), dirname(exports['./*'] ?? ''))] as const
})

/** The path of what a file imports. A package's folder is that of its exports. */
function pathOf(file: string, imported: string): string {
  const [name, folder] = packages.find(([name]) => imported.startsWith(`${name}/`)) ?? []
  return name === undefined ? join(dirname(file), imported) : join(folder ?? '', imported.slice(name.length))
}

const files = globSync(`{${LAYERS}}/*/**/*.ts`, { exclude: ['**/node_modules/**'] }).sort()
const imports = files.flatMap((file) =>
  [...readFileSync(file, 'utf8').matchAll(IMPORT)].map(([, from, dynamic = '']) => ({
    file,
    imported: pathOf(file, from ?? dynamic),
  })),
)

/** For each folder, the folders that its files import, each with one such import as text. Without tests. */
function importsByFolder(): Map<string, Map<string, string>> {
  const byFolder = new Map<string, Map<string, string>>()
  for (const { file, imported } of imports) {
    const [folder, other] = [dirname(file), dirname(imported)]
    if (folder === other || /\.test\.ts$|(?<!^libs)\/testing\//.test(file)) continue
    byFolder.set(folder, (byFolder.get(folder) ?? new Map()).set(other, `${file} imports ${imported}`))
  }
  return byFolder
}

/** The shortest chain of imports from a folder back to itself, as folders; undefined when there is none. */
function circleFrom(start: string, byFolder: ReadonlyMap<string, ReadonlyMap<string, string>>): string[] | undefined {
  const chains = [[start]]
  const seen = new Set<string>()
  for (const chain of chains) {
    for (const next of byFolder.get(chain.at(-1) ?? start)?.keys() ?? []) {
      if (next === start) return [...chain, start]
      if (!seen.has(next)) chains.push([...chain, next])
      seen.add(next)
    }
  }
  return undefined
}

const layerOf = (path: string) => LAYERS.indexOf(path.split('/')[0] ?? '')
const upward = imports.filter(({ file, imported }) => layerOf(file) < layerOf(imported))
for (const { file, imported } of upward) console.error(`${file} imports ${imported}, which lies above it`)

const byFolder = importsByFolder()
const reported = new Set<string>()
for (const folder of [...byFolder.keys()].sort()) {
  const circle = circleFrom(folder, byFolder)
  const members = [...new Set(circle)].sort().join()
  if (circle === undefined || reported.has(members)) continue
  reported.add(members)
  console.error(`folders import each other: ${circle.join(' → ')}`)
  for (const [index, to] of circle.slice(1).entries()) console.error(`  ${byFolder.get(circle[index] ?? '')?.get(to)}`)
}
if (reported.size > 0 || upward.length > 0) process.exitCode = 1
