import { type Dirent, readdirSync } from 'node:fs'
import { join } from 'node:path'

/** Everything in a folder and those below it, a folder after its contents. Follows no links. */
export function* entriesIn(folder: string): Generator<Dirent & { readonly path: string }> {
  for (const entry of readdirSync(folder, { withFileTypes: true })) {
    const path = join(folder, entry.name)
    if (entry.isDirectory()) yield* entriesIn(path)
    yield Object.assign(entry, { path })
  }
}
