import { globSync, readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'

/*
 * `npm run check:folders`: fails when folders of a service's or lib's sources import each other in a circle. Prints
 * each circle with an import for each of its steps. Tests and `testing/` are left out. A library for this
 * (dependency-cruiser) does not read TypeScript with version 7 of the compiler.
 */

const IMPORT = /^(?:import|export)\b[^'"]*?\bfrom '(\.[^']+)'|\bimport\('(\.[^']+)'\)/gm

/** For each folder, the folders that its files import, each with one such import as text. */
function importsByFolder(): Map<string, Map<string, string>> {
  const imports = new Map<string, Map<string, string>>()
  for (const file of globSync('{services,libs}/*/src/**/*.ts')) {
    if (file.endsWith('.test.ts') || file.includes('/testing/')) continue
    for (const [, from, dynamic = ''] of readFileSync(file, 'utf8').matchAll(IMPORT)) {
      const imported = join(dirname(file), from ?? dynamic)
      const [folder, other] = [dirname(file), dirname(imported)]
      if (folder === other) continue
      imports.set(folder, (imports.get(folder) ?? new Map()).set(other, `${file} imports ${imported}`))
    }
  }
  return imports
}

/** The shortest chain of imports from a folder back to itself, as folders; undefined when there is none. */
function circleFrom(start: string, imports: ReadonlyMap<string, ReadonlyMap<string, string>>): string[] | undefined {
  const chains = [[start]]
  const seen = new Set<string>()
  for (const chain of chains) {
    for (const next of imports.get(chain.at(-1) ?? start)?.keys() ?? []) {
      if (next === start) return [...chain, start]
      if (!seen.has(next)) chains.push([...chain, next])
      seen.add(next)
    }
  }
  return undefined
}

const imports = importsByFolder()
const reported = new Set<string>()
for (const folder of [...imports.keys()].sort()) {
  const circle = circleFrom(folder, imports)
  const members = [...new Set(circle)].sort().join()
  if (circle === undefined || reported.has(members)) continue
  reported.add(members)
  console.error(`folders import each other: ${circle.join(' → ')}`)
  for (const [index, to] of circle.slice(1).entries()) console.error(`  ${imports.get(circle[index] ?? '')?.get(to)}`)
}
if (reported.size > 0) process.exitCode = 1
